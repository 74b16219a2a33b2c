import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// The room for uploads where something happens between the answer of the disk and what is taken of it.
@Suite struct UploadDiskSpaceTests {
    /// A disk that has room for 10,000 bytes, and does something meanwhile.
    private final class Disk: Sendable {
        private let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)

        func once(_ action: @escaping @Sendable () -> Void) { self.meanwhile.withLock { $0 = action } }

        func room() -> Int {
            let action = self.meanwhile.withLock { action in
                defer { action = nil }
                return action
            }
            action?()
            return 10_000
        }
    }

    private let disk = Disk()
    private let reserved = Budget(.uploadedBytes)
    private let room: UploadDiskSpace
    private let caller, other: BudgetCaller

    init() throws {
        let disk = self.disk
        self.room = UploadDiskSpace(folder: FileFolder(path: "files") { _ in disk.room() }, reserved: self.reserved)
        self.caller = BudgetCaller(app: Topic(Vectors.bundleID))
        self.other = BudgetCaller(app: Topic("com.example.Other"))
    }

    @Test func roomThatAnotherTakesMeanwhileIsTaken() async throws {
        let permit = Mutex<BudgetPermit?>(nil)
        self.disk.once { [reserved = self.reserved, other = self.other] in
            permit.withLock { $0 = try? reserved.take(6000, for: other, room: 10_000) }
        }
        let text = "it has room for 4000 bytes besides 6000 bytes that are being received"
        await #expect(throws: UploadFailure.full(text)) {
            try await self.room.take(3000, wanted: 3000, for: self.caller)
        }
        #expect(self.reserved.usage.held == 6000)
        permit.withLock { $0 = nil }
        #expect(try await self.room.take(3000, wanted: 3000, for: self.caller).amount == 3000)
    }

    /// Its room is given back before the disk has said that it is taken.
    @Test func whatComesToTheDiskMeanwhileIsNotFree() async throws {
        let (amount, permit) = try await self.room.take(2000, wanted: 2000, for: self.other)
        #expect(amount == 2000)
        self.disk.once { [room = self.room] in room.settle(2000, of: permit, leaving: 0) }
        await #expect(throws: UploadFailure.full("it has room for 8000 bytes")) {
            try await self.room.take(4500, wanted: 4500, for: self.caller)
        }
        #expect(self.reserved.usage.held == 0)
    }

    /// What a file in one go has on the disk holds room of its app, and is not subtracted twice.
    @Test func bytesOnTheDiskCountOnce() async throws {
        let disk = Mutex(10_000)
        let room = UploadDiskSpace(
            folder: FileFolder(path: "files") { _ in disk.withLock { $0 } },
            reserved: self.reserved
        )
        let (_, permit) = try await room.take(2000, wanted: 2000, for: self.caller)
        disk.withLock { $0 = 8000 }
        room.keep(2000, app: 1)
        #expect(room.kept(app: 1) == 2000 && self.reserved.usage.held == 2000)
        try await room.check(5000, for: self.other)
        await #expect(throws: UploadFailure.full("it has room for 8000 bytes")) {
            try await room.check(8001, for: self.other)
        }
        room.release([try #require(permit)], kept: 2000, app: 1)
        #expect(room.kept(app: 1) == 0 && self.reserved.usage.held == 0)
    }

    /// Near its end the disk is taken in small parts, and an app that holds little gets nearly all of it.
    @Test func littleIsTakenAheadWhereLittleIsFree() async throws {
        let (amount, permit) = try await self.room.take(100, wanted: 1_000_000, for: self.caller)
        #expect(amount == 2500)
        permit?.end()
        await #expect(throws: UploadFailure.self) { try await self.room.take(5001, wanted: 5001, for: self.caller) }
        #expect(try await self.room.take(5000, wanted: 5000, for: self.caller).amount == 5000)
    }
}
