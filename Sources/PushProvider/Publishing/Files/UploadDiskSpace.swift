import PushSupport
import Synchronization

/// The disk space for uploads. It is taken as their bytes arrive: what was only begun or announced holds nothing.
///
/// The bytes of an upload in parts hold room until they are on the disk, where the quota counts them as a part of the upload.
/// Those of a file in one go hold it until the file is complete or gone: before that, nothing else counts them.
final class UploadDiskSpace: Sendable {
    private struct State {
        /// The bytes on the disk that still hold room, by app.
        var kept: [Int64: Int] = [:]
        /// All bytes that have come to the disk so far.
        var landed = 0
    }

    private let folder: FileFolder
    private let reserved: Budget
    private let state = Mutex(State())

    init(folder: FileFolder, reserved: Budget) { (self.folder, self.reserved) = (folder, reserved) }

    /// Takes room for bytes that have arrived, and for some that follow. An app leaves some to the others.
    /// - Parameters:
    ///   - needed: The bytes that have arrived.
    ///   - wanted: The bytes to take, if they are at most a quarter of what is free: near its end the disk is taken in small parts.
    /// - Returns: The bytes that have room now, and their permit; no permit if the disk does not say how much room it has.
    /// - Throws: ``UploadFailure/full(_:)``, ``RetryLaterError``.
    func take(
        _ needed: Int,
        wanted: Int,
        for caller: BudgetCaller
    ) async throws -> (amount: Int, permit: BudgetPermit?) {
        try await self.take(for: caller) { left in
            // An app alone gets no more than two thirds, and half is enough to tell a full disk from a share.
            needed <= left / 2 ? max(needed, min(wanted, left / 4)) : nil
        } ?? (wanted, nil)
    }

    /// Checks that a file which will arrive in one go has room now.
    /// - Throws: ``UploadFailure/full(_:)``, ``RetryLaterError``.
    func check(_ size: Int, for caller: BudgetCaller) async throws {
        try await self.take(for: caller) { left in size <= left ? size : nil }?.permit?.end()
    }

    /// - Parameter amount: Returns the bytes to take of those that are left; `nil` if these are too few.
    /// - Returns: `nil` if the disk does not say how much room it has.
    private func take(
        for caller: BudgetCaller,
        _ amount: (_ left: Int) -> Int?
    ) async throws -> (amount: Int, permit: BudgetPermit?)? {
        let (folder, before) = (self.folder, self.state.withLock { $0.landed })
        guard let room = try await FileFolder.blocking({ folder.room() }) else { return nil }
        return try self.state.withLock { state in
            // The disk does not count the kept bytes as free. It may still count those that have landed meanwhile.
            let kept = state.kept.values.reduce(0, +)
            let (free, held) = (room + kept - (state.landed - before), self.reserved.usage.held)
            let full = UploadFailure.full(Self.text(free - held, besides: held - kept))
            guard let amount = amount(free - held) else { throw full }
            do throws(BudgetRefusal) {
                return (amount, try self.reserved.take(amount, for: caller, room: free))
            } catch {
                guard error.level != .whole else { throw full }
                throw error.error
            }
        }
    }

    private static func text(_ left: Int, besides others: Int) -> String {
        let besides = others > 0 ? " besides \(others) bytes that are being received" : ""
        return "it has room for \(max(0, left)) bytes\(besides)"
    }

    /// Returns the bytes on the disk of an app's files that are being received in one go.
    func kept(app: Int64) -> Int { self.state.withLock { $0.kept[app] ?? 0 } }

    /// Notes bytes on the disk that go on to hold room.
    func keep(_ count: Int, app: Int64) {
        self.state.withLock { state in
            state.kept[app, default: 0] += count
            state.landed += count
        }
    }

    /// Gives back the room of bytes that are on the disk.
    /// - Parameter rest: The bytes that the permit holds on.
    func settle(_ count: Int, of permit: BudgetPermit?, leaving rest: Int) {
        self.state.withLock { state in
            state.landed += count
            permit?.reduce(to: rest)
        }
    }

    /// Gives back the room of a file that is complete or gone.
    /// - Parameter count: Its bytes on the disk.
    func release(_ permits: [BudgetPermit], kept count: Int, app: Int64) {
        self.state.withLock { state in
            let rest = (state.kept[app] ?? 0) - count
            state.kept[app] = rest > 0 ? rest : nil
            for permit in permits { permit.end() }
        }
    }
}

/// The room of one upload while its bytes arrive.
struct UploadReservation: Sendable {
    /// The most bytes that follow for which room is taken.
    private static let step = 8 * 1024 * 1024

    private let room: UploadDiskSpace
    private let app: Int64
    private let caller: BudgetCaller
    /// The size of the file; `nil` if it is not known.
    private let size: Int?
    /// The position up to which bytes are on the disk.
    private var position: Int
    /// The position up to which bytes have room.
    private var end: Int
    private var permits: [BudgetPermit] = []
    /// The bytes on the disk that still hold room.
    private var kept = 0

    /// - Parameter position: The position of the first byte that arrives.
    init(_ room: UploadDiskSpace, app: Int64, for caller: BudgetCaller, from position: Int = 0, size: Int?) {
        (self.room, self.app, self.caller) = (room, app, caller)
        (self.position, self.end, self.size) = (position, position, size)
    }

    /// Returns `true` if the bytes up to a position have room.
    func includes(_ position: Int) -> Bool { position <= self.end }

    /// Takes room for the bytes up to a position, and for some that follow.
    /// - Parameter most: The most bytes that may follow what has room.
    /// - Throws: ``UploadFailure/full(_:)``, ``RetryLaterError``.
    mutating func extend(to position: Int, most: Int = .max) async throws {
        guard !self.includes(position) else { return }
        let needed = position - self.end
        let wanted = max(needed, min(Self.step, most, (self.size ?? .max) - self.end))
        let (amount, permit) = try await self.room.take(needed, wanted: wanted, for: self.caller)
        self.end += amount
        if let permit { self.permits.append(permit) }
    }

    /// Gives back the room of the bytes before a position, which are on the disk and belong to a row.
    mutating func settle(upTo position: Int) {
        self.room.settle(position - self.position, of: self.permits.last, leaving: self.end - position)
        self.position = position
        // The last was taken once the others did not reach.
        if self.permits.count > 1 { self.permits.removeFirst(self.permits.count - 1) }
    }

    /// Notes that the bytes before a position are on the disk, and belong to no row.
    mutating func keep(upTo position: Int) {
        self.room.keep(position - self.position, app: self.app)
        self.kept += position - self.position
        self.position = position
    }

    /// Gives everything back.
    mutating func releaseAll() {
        self.room.release(self.permits, kept: self.kept, app: self.app)
        (self.permits, self.kept) = ([], 0)
    }
}
