import Crypto
import Foundation
import NIOCore
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// Uploads into a folder, with crashes between their steps.
@Suite(.timeLimit(.patience)) struct UploadServiceTests {
    /// A store and a folder, which a crash can be simulated with.
    private struct Fixture: Sendable {
        let directory: String
        let store: SQLStore
        let app: Int64
        let uploads: UploadService
        let budgets: BudgetRegistry
        let time = ManualTime()

        /// The bytes that have room and are not on the disk yet.
        var reserved: Int { self.budgets[.uploadedBytes].usage.held }

        let folder: FileFolder

        /// - Parameters:
        ///   - room: The bytes that the disk has room for; `nil` for those of this one.
        ///   - quota: The maximum bytes of an app; 0 for no limit.
        ///   - files: The maximum number of its files.
        init(
            _ directory: String,
            room: Int? = nil,
            quota: Int = 0,
            files: Int = FileRecord.maximumOfApp,
            budgets: [BudgetedResource: BudgetLimits] = [:]
        ) async throws {
            (self.directory, self.budgets) = (directory, BudgetRegistry(budgets))
            let path = "\(directory)/files"
            self.folder = room.map { FileFolder(path: path, room: $0) } ?? FileFolder(path: path)
            var settings = PublishingSettings()
            (settings.quota, settings.maximumFiles) = (quota, files)
            self.store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: .fixture(1))
            let bundleID = try #require(Topic(Vectors.bundleID))
            self.app = try await self.store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
            self.uploads = UploadService(
                store: self.store,
                folder: self.folder,
                settings: settings,
                budgets: self.budgets,
                time: self.time,
                logger: silentLogger
            )
        }

        /// Begins the upload of a content.
        func begin(_ content: [UInt8], hash: ContentHash? = nil, app: Int64? = nil) async throws -> UploadRecord {
            try await self.uploads.begin(
                UploadRecord(
                    id: UUID(),
                    app: app ?? self.app,
                    size: content.count,
                    hash: hash ?? ContentHash(SHA256.hash(data: content)),
                    contentType: "application/zip",
                    name: "issue.zip",
                    createdAt: self.time.now
                )
            )
        }

        func send(_ bytes: ArraySlice<UInt8>, to upload: UploadRecord, at offset: Int) async throws -> UploadRecord {
            try await self.uploads.receive(upload.id, at: offset, Self.body([ByteBuffer(bytes: bytes)]))
        }

        /// Begins the upload of a content, and sends it as a connection does: little by little.
        func sendInPieces(_ content: [UInt8], app: Int64? = nil) async throws -> UploadRecord {
            let upload = try await self.begin(content, app: app)
            return try await self.uploads.receive(upload.id, at: 0, Self.body(Self.pieces(of: content)))
        }

        static func pieces(of content: [UInt8]) -> [ByteBuffer] {
            stride(from: 0, to: content.count, by: 100).map {
                ByteBuffer(bytes: content[$0..<min($0 + 100, content.count)])
            }
        }

        static func body(_ buffers: [ByteBuffer], error: (any Error)? = nil) -> AsyncThrowingStream<
            ByteBuffer, any Error
        > {
            AsyncThrowingStream { continuation in
                for buffer in buffers { continuation.yield(buffer) }
                continuation.finish(throwing: error)
            }
        }
    }

    private struct Disconnected: Error {}

    private static let content = (0..<1000).map { UInt8($0 % 251) }

    @Test func aFileInPartsIsCompleteWithItsLastByte() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            let upload = try await fixture.begin(Self.content)
            #expect(upload.received == 0 && upload.completedAt == nil)
            let half = try await fixture.send(Self.content[..<400], to: upload, at: 0)
            #expect(half.received == 400 && half.completedAt == nil)
            let whole = try await fixture.send(Self.content[400...], to: upload, at: 400)
            #expect(whole.received == 1000 && whole.completedAt != nil)
            let path = fixture.folder.path(of: upload.hash)
            #expect(try Array(Data(contentsOf: URL(filePath: path))) == Self.content)
            #expect(try await fixture.store.file(upload.hash, app: fixture.app)?.size == 1000)
            #expect(fixture.folder.parts() == [])
            // The same content again is complete at once.
            let again = try await fixture.begin(Self.content)
            #expect(again.completedAt != nil && again.received == 1000)
        }
    }

    @Test func aLostConnectionKeepsWhatHasArrived() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            let upload = try await fixture.begin(Self.content)
            let body = Fixture.body([ByteBuffer(bytes: Self.content[..<700])], error: Disconnected())
            await #expect(throws: Disconnected.self) { try await fixture.uploads.receive(upload.id, at: 0, body) }
            #expect(try await fixture.store.upload(upload.id)?.received == 700)
            await #expect(throws: UploadFailure.wrongOffset(700)) {
                try await fixture.send(Self.content[500...], to: upload, at: 500)
            }
            #expect(try await fixture.send(Self.content[700...], to: upload, at: 700).completedAt != nil)
        }
    }

    /// The bytes after the counted ones may be anything after a power failure.
    @Test func aKilledUploadGoesOnFromWhatIsCounted() async throws {
        try await withTemporaryDirectory { directory in
            let upload: UploadRecord
            do {
                let fixture = try await Fixture(directory)
                upload = try await fixture.begin(Self.content)
                _ = try await fixture.send(Self.content[..<600], to: upload, at: 0)
                let part = try fixture.folder.part(of: upload.id)
                try [UInt8](repeating: 0xFF, count: 300).withUnsafeBytes { try part.write($0, at: 600) }
                try await fixture.store.close()
            }
            let fixture = try await Fixture(directory)
            #expect(try await fixture.store.upload(upload.id)?.received == 600)
            #expect(try await fixture.send(Self.content[600...], to: upload, at: 600).completedAt != nil)
        }
    }

    @Test func aCrashBetweenTheContentAndItsRowIsMended() async throws {
        try await withTemporaryDirectory { directory in
            let upload: UploadRecord
            do {
                let fixture = try await Fixture(directory)
                upload = try await fixture.begin(Self.content)
                let part = try fixture.folder.part(of: upload.id)
                try Self.content.withUnsafeBytes { try part.write($0, at: 0) }
                #expect(try await fixture.store.noteUpload(upload.id, received: 1000, now: fixture.time.now))
                try fixture.folder.place(upload.id, as: upload.hash)
                try await fixture.store.close()
            }
            let fixture = try await Fixture(directory)
            #expect(try await fixture.store.file(upload.hash, app: fixture.app) == nil)
            #expect(try await fixture.send([], to: upload, at: 1000).completedAt != nil)
            #expect(try await fixture.store.file(upload.hash, app: fixture.app) != nil)
        }
    }

    @Test func aPartThatLostBytesGoesOnFromWhatItHas() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            let upload = try await fixture.begin(Self.content)
            _ = try await fixture.send(Self.content[..<600], to: upload, at: 0)
            try fixture.folder.part(of: upload.id).truncate(to: 100)
            await #expect(throws: UploadFailure.wrongOffset(100)) {
                try await fixture.send(Self.content[600...], to: upload, at: 600)
            }
            #expect(try await fixture.send(Self.content[100...], to: upload, at: 100).completedAt != nil)
        }
    }

    @Test func otherBytesThanAnnouncedAreRefused() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            let upload = try await fixture.begin(Self.content)
            await #expect(throws: RequestError.self) { try await fixture.send(Self.content + [1], to: upload, at: 0) }
            let other = [UInt8](repeating: 7, count: 1000)
            await #expect(throws: UploadFailure.wrongHash) { try await fixture.send(other[...], to: upload, at: 0) }
            #expect(try await fixture.store.upload(upload.id)?.received == 0)
            #expect(try await !fixture.store.hasFile(upload.hash))
            #expect(try await fixture.send(Self.content[...], to: upload, at: 0).completedAt != nil)
            await #expect(throws: UploadFailure.missing) {
                try await fixture.uploads.receive(UUID(), at: 0, Fixture.body([]))
            }
        }
    }

    @Test func oneRequestAtATimeSendsBytesOfAnUpload() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            let upload = try await fixture.begin(Self.content)
            let (started, gate) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
            let isSent = Mutex(false)
            let body = AsyncThrowingStream<ByteBuffer, any Error> {
                let wasSent = isSent.withLock { isSent in
                    defer { isSent = true }
                    return isSent
                }
                if wasSent { return nil }
                started.continuation.finish()
                for await _ in gate.stream {}
                return ByteBuffer(bytes: Self.content)
            }
            let first = Task { try await fixture.uploads.receive(upload.id, at: 0, body) }
            for await _ in started.stream {}
            await #expect(throws: UploadFailure.busy) { try await fixture.send([], to: upload, at: 0) }
            gate.continuation.finish()
            #expect(try await first.value.completedAt != nil)
        }
    }

    @Test func manyUploadsOfTheSameContentStoreItOnce() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        let upload = try await fixture.begin(Self.content)
                        guard upload.completedAt == nil else { return true }
                        return try await fixture.send(Self.content[...], to: upload, at: 0).completedAt != nil
                    }
                }
                for try await isComplete in group { #expect(isComplete) }
            }
            #expect(try await fixture.store.files(app: fixture.app, after: nil, limit: 10).count == 1)
            #expect(fixture.folder.parts() == [])
        }
    }

    @Test func knowingAHashGivesNoFileOfAnotherApp() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            let upload = try await fixture.begin(Self.content)
            _ = try await fixture.send(Self.content[...], to: upload, at: 0)
            let bundleID = try #require(Topic("com.example.Other"))
            let other = try await fixture.store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
            var foreign = upload
            (foreign.id, foreign.app) = (UUID(), other)
            #expect(try await fixture.uploads.begin(foreign).completedAt == nil)
            #expect(try await fixture.store.file(upload.hash, app: other) == nil)
        }
    }

    @Test func aFileThatIsTooLongIsNotBegun() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            var settings = PublishingSettings()
            settings.maximumFile = 999
            let uploads = UploadService(
                store: fixture.store,
                folder: fixture.folder,
                settings: settings,
                budgets: BudgetRegistry(),
                time: fixture.time,
                logger: silentLogger
            )
            let upload = UploadRecord(
                id: UUID(),
                app: fixture.app,
                size: 1000,
                hash: ContentHash(SHA256.hash(data: Self.content)),
                contentType: "application/zip",
                name: "a",
                createdAt: fixture.time.now
            )
            await #expect(throws: RequestError.self) { try await uploads.begin(upload) }
        }
    }

    /// A content that the disk has damaged is repaired by another upload of the same file.
    @Test func aDamagedContentIsUploadedAgain() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory)
            let first = try await fixture.begin(Self.content)
            _ = try await fixture.send(Self.content[...], to: first, at: 0)
            let path = fixture.folder.path(of: first.hash)
            try OpenFile(writing: path).truncate(to: 1)
            let again = try await fixture.begin(Self.content)
            #expect(again.completedAt == nil)
            _ = try await fixture.send(Self.content[...], to: again, at: 0)
            #expect(Array(try Data(contentsOf: URL(filePath: path))) == Self.content)
        }
    }

    /// Contents with the same length, no two alike.
    private static func content(_ number: UInt8, _ length: Int) -> [UInt8] { [UInt8](repeating: number, count: length) }

    private static func other(_ fixture: Fixture) async throws -> Int64 {
        let bundleID = try #require(Topic("com.example.Other"))
        return try await fixture.store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app.id
    }

    /// Twenty uploads that were begun, and of which no byte is sent, leave the disk to others.
    @Test func whatIsNotSentReservesNothing() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, room: 10_000)
            for number in 0..<20 { _ = try await fixture.begin(Self.content(UInt8(number), 9000)) }
            // What could never have room is refused at once, and says what there is.
            await #expect(throws: UploadFailure.full("it has room for 10000 bytes")) {
                try await fixture.begin(Self.content(100, 10_001))
            }
            let other = try await Self.other(fixture)
            #expect(try await fixture.sendInPieces(Self.content(99, 8000), app: other).completedAt != nil)
        }
    }

    /// An upload that stalls holds what comes next, and not all that it was begun with.
    @Test func anUploadOfAllTheRoomLeavesSomeToAnother() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, room: 10_000)
            let other = try await Self.other(fixture)
            let (bytes, end) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
            let slow = try await fixture.begin(Self.content(1, 10_000))
            let sending = Task { try await fixture.uploads.receive(slow.id, at: 0, bytes) }
            end.yield(ByteBuffer(bytes: Self.content(1, 500)))
            // A quarter of what was free, of which 500 bytes are on the disk.
            try await eventually { fixture.reserved == 2000 }
            #expect(try await fixture.sendInPieces(Self.content(2, 3000), app: other).completedAt != nil)
            // The disk becomes full: that is what the error says, and what has arrived is kept.
            let large = try await fixture.begin(Self.content(3, 6000), app: other)
            let failure = await #expect(throws: UploadFailure.self) {
                let pieces = Fixture.pieces(of: Self.content(3, 6000))
                return try await fixture.uploads.receive(large.id, at: 0, Fixture.body(pieces))
            }
            guard case .full? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
            let received = try #require(try await fixture.store.upload(large.id)?.received)
            #expect(received > 3000 && received % 100 == 0)
            #expect(try fixture.folder.part(of: large.id).length() == received)
            #expect(fixture.reserved == 2000)
            end.finish(throwing: Disconnected())
            await #expect(throws: Disconnected.self) { try await sending.value }
            #expect(fixture.reserved == 0)
        }
    }

    /// The share of an app bounds what it holds at a time, and no file.
    @Test func aFileLargerThanTheShareOfItsAppIsReceived() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, room: 10_000)
            #expect(try await fixture.sendInPieces(Self.content(1, 9500)).completedAt != nil)
            #expect(fixture.reserved == 0)
        }
    }

    /// Whatever is asked for at the same time.
    @Test func uploadsNeverHaveMoreRoomThanThereIs() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, room: 10_000)
            var uploads: [UploadRecord] = []
            for number in UInt8(0)..<12 {
                let bundleID = try #require(Topic("com.example.app\(number)"))
                let app = try await fixture.store.addApp(bundleID: bundleID, name: nil, now: Vectors.issuedAt).app
                uploads.append(try await fixture.begin(Self.content(number, 2000), app: app.id))
            }
            await withTaskGroup(of: Void.self) { group in
                for (number, upload) in uploads.enumerated() {
                    // The last byte is not sent, so that nothing is moved while the disk is looked at.
                    let pieces = Fixture.pieces(of: Self.content(UInt8(number), 1999))
                    group.addTask { _ = try? await fixture.uploads.receive(upload.id, at: 0, Fixture.body(pieces)) }
                }
            }
            #expect(try #require(fixture.folder.room()) >= 0)
            #expect(fixture.reserved == 0)
        }
    }

    /// The places are a resource: in use, and refused, by app.
    @Test func anAppLeavesPlacesForTheUploadsOfAnother() async throws {
        try await withTemporaryDirectory { directory in
            let limits = BudgetLimits(.init(whole: .held(9), app: .timesFree(2)))
            let fixture = try await Fixture(directory, budgets: [.uploads: limits])
            let (places, app) = (fixture.budgets[.uploads], Topic(Vectors.bundleID))
            // A place each, which the next one has then.
            var begun: [UploadRecord] = []
            for number in UInt8(0)..<9 { begun.append(try await fixture.begin(Self.content(number, 10))) }
            #expect(places.usage.held == 0)
            var open: [(AsyncThrowingStream<ByteBuffer, any Error>.Continuation, Task<UploadRecord, any Error>)] = []
            for upload in begun where places.refusals.isEmpty {
                let (bytes, end) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
                open.append((end, Task { try await fixture.uploads.receive(upload.id, at: 0, bytes) }))
                try await eventually { places.usage.held >= open.count || !places.refusals.isEmpty }
            }
            let refused = await #expect(throws: RetryLaterError.self) { try await open.last?.1.value }
            #expect(refused?.error.code == "too_many_upload_requests" && refused?.error.kind == .unavailable)
            #expect(places.usageByApp == [Budget.Usage(app: app, held: open.count - 1)])
            #expect(places.refusals.map(\.app) == [app] && places.refusals.map(\.count) == [1])
            let other = try await Self.other(fixture)
            #expect(try await fixture.sendInPieces(Self.content(99, 10), app: other).completedAt != nil)
            for (end, _) in open { end.finish() }
            for (_, task) in open.dropLast() { #expect(try await task.value.received == 0) }
            #expect(places.usage.held == 0)
        }
    }

    /// Beginning one takes its time too.
    @Test func anUploadIsBegunInAPlace() async throws {
        try await withTemporaryDirectory { directory in
            let limits = BudgetLimits(.init(whole: .held(1), app: .timesFree(2)))
            let fixture = try await Fixture(directory, budgets: [.uploads: limits])
            let place = try fixture.budgets[.uploads].take(for: BudgetCaller(app: Topic(Vectors.bundleID)))
            let refused = await #expect(throws: RetryLaterError.self) { try await fixture.begin(Self.content) }
            #expect(refused?.error.code == "too_many_upload_requests")
            #expect(try await fixture.store.openUploads(app: fixture.app) == [])
            place.end()
            #expect(try await fixture.begin(Self.content).completedAt == nil)
        }
    }

    @Test func anAppHasAMaximumOfFiles() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, files: 2)
            let first = try await fixture.begin(Self.content)
            _ = try await fixture.send(Self.content[...], to: first, at: 0)
            let second = try await fixture.begin(Self.content(1, 10))
            let refused = await #expect(throws: RequestError.self) { try await fixture.begin(Self.content(2, 10)) }
            #expect(refused?.code == "too_many_files" && refused?.kind == .conflict)
            #expect(refused?.message.contains("2 files") == true)
            // The same file again is none more, and another app has its own.
            #expect(try await fixture.begin(Self.content).completedAt != nil)
            _ = try await fixture.begin(Self.content(2, 10), app: try await Self.other(fixture))
            #expect(try await fixture.uploads.remove(second.id))
            _ = try await fixture.begin(Self.content(2, 10))
        }
    }

    @Test func anAppHasAQuota() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, quota: 2500)
            let upload = try await fixture.begin(Self.content)
            _ = try await fixture.send(Self.content[...], to: upload, at: 0)
            _ = try await fixture.begin(Self.content(1, 1000))
            let refused = await #expect(throws: RequestError.self) { try await fixture.begin(Self.content(2, 501)) }
            #expect(refused?.code == "quota_exceeded" && refused?.message.contains("2000 of 2500 bytes") == true)
            // Another app has its own, and the same file again takes none.
            _ = try await fixture.begin(Self.content(2, 2500), app: try await Self.other(fixture))
            #expect(try await fixture.begin(Self.content).completedAt != nil)
            _ = try await fixture.begin(Self.content(3, 500))
        }
    }

    /// Begins an upload of which 600 bytes arrive before a restart.
    private static func begun(in directory: String) async throws -> UploadRecord {
        let fixture = try await Fixture(directory)
        let upload = try await fixture.begin(Self.content)
        _ = try await fixture.send(Self.content[..<600], to: upload, at: 0)
        try await fixture.store.close()
        return upload
    }

    /// A turn that another app has: who needs one waits for it.
    private static func turn(_ fixture: Fixture) throws -> BudgetPermit {
        try fixture.uploads.hashes.turns.take(for: BudgetCaller(app: Topic("com.example.Other")))
    }

    @Test func aRequestWithoutBytesReadsNoPartAgain() async throws {
        try await withTemporaryDirectory { directory in
            let upload = try await Self.begun(in: directory)
            let fixture = try await Fixture(directory)
            let turn = try Self.turn(fixture)
            #expect(try await fixture.send([], to: upload, at: 600).received == 600)
            await #expect(throws: RequestError.self) { try await fixture.send(Self.content[...], to: upload, at: 600) }
            #expect(fixture.uploads.hashes.known(upload.id, upTo: 600)?.count == nil)
            turn.end()
            #expect(try await fixture.send(Self.content[600...], to: upload, at: 600).completedAt != nil)
            #expect(fixture.uploads.hashes.turns.usage == (0, 0))
        }
    }

    /// The bytes for which a part was read again have no room, and the next ones need no reading.
    @Test func aPartIsReadAgainOnce() async throws {
        try await withTemporaryDirectory { directory in
            let upload = try await Self.begun(in: directory)
            let fixture = try await Fixture(directory, room: 600)
            await #expect(throws: UploadFailure.self) { try await fixture.send([1], to: upload, at: 600) }
            let turn = try Self.turn(fixture)
            await #expect(throws: UploadFailure.self) { try await fixture.send([1], to: upload, at: 600) }
            turn.end()
            #expect(fixture.uploads.hashes.known(upload.id, upTo: 600)?.count == 600)
        }
    }

    @Test func aWholePartIsCompletedWithoutAByte() async throws {
        try await withTemporaryDirectory { directory in
            let upload: UploadRecord
            do {
                let fixture = try await Fixture(directory)
                upload = try await fixture.begin(Self.content)
                let part = try fixture.folder.part(of: upload.id)
                try Self.content.withUnsafeBytes { try part.write($0, at: 0) }
                #expect(try await fixture.store.noteUpload(upload.id, received: 1000, now: fixture.time.now))
                try await fixture.store.close()
            }
            let fixture = try await Fixture(directory)
            #expect(try await fixture.send([], to: upload, at: 1000).completedAt != nil)
            #expect(fixture.uploads.hashes.known(upload.id, upTo: 1000)?.count == nil)
        }
    }

    /// A file that is known waits for those that place contents.
    @Test func aKnownFileHasAPlaceWhileItIsBegun() async throws {
        try await withTemporaryDirectory { directory in
            let fixture = try await Fixture(directory, budgets: [.uploads: BudgetLimits(.init(whole: .held(1)))])
            let places = fixture.budgets[.uploads]
            let first = try await fixture.begin(Self.content)
            _ = try await fixture.send(Self.content[...], to: first, at: 0)
            let place = try places.take(for: BudgetCaller())
            let refused = await #expect(throws: RetryLaterError.self) { try await fixture.begin(Self.content) }
            #expect(refused?.error.code == "too_many_upload_requests")
            #expect(try await fixture.store.openUploads(app: fixture.app).isEmpty, "it was not begun")
            place.end()
            #expect(try await fixture.begin(Self.content).completedAt != nil)
            #expect(places.usage.held == 0)
        }
    }
}
