import PushSupport
import Synchronization

/// Reserves disk space for uploads. Space is reserved as bytes arrive, not when an upload is begun or announced.
///
/// The bytes of an upload in parts are charged to the reserved space until they are on disk, where the quota counts
/// them. The bytes of a file that is sent in a single request are charged until the file is complete or removed,
/// because the quota does not count them before.
final class UploadDiskSpace: Sendable {
    private struct State {
        /// The number of bytes already written to disk that are still charged to the reserved space, by app.
        var kept: [Int64: Int] = [:]
        /// The number of bytes that uploads have written so far, which corrects a free space that was read earlier.
        var landed = 0
    }

    private let folder: FileFolder
    private let reserved: Budget
    private let state = Mutex(State())

    init(folder: FileFolder, reserved: Budget) { (self.folder, self.reserved) = (folder, reserved) }

    /// Reserves space for bytes that have arrived, and for some that follow. One app cannot take all space.
    /// - Parameters:
    ///   - needed: The number of bytes that have arrived.
    ///   - wanted: The number of bytes to reserve. It is limited to a quarter of the free space, so that a nearly full
    ///     disk is reserved in small amounts.
    /// - Returns: The number of reserved bytes, and their permit, which is `nil` if the free space is not known.
    /// - Throws: ``UploadFailure/full(_:)``; ``RetryLaterError`` if only the app has reserved too much for now.
    func take(
        _ needed: Int,
        wanted: Int,
        for caller: BudgetCaller
    ) async throws -> (amount: Int, permit: BudgetPermit?) {
        try await self.take(for: caller) { left in
            // One app gets at most two thirds of the space. The disk counts as full if half of the free space is too
            // little.
            needed <= left / 2 ? max(needed, min(wanted, left / 4)) : nil
        } ?? (wanted, nil)
    }

    /// Checks that there is space now for a file that will arrive in a single request, without reserving it.
    /// - Throws: ``UploadFailure/full(_:)``; ``RetryLaterError`` if only the app has reserved too much for now.
    func check(_ size: Int, for caller: BudgetCaller) async throws {
        try await self.take(for: caller) { left in size <= left ? size : nil }?.permit?.end()
    }

    /// Reserves the number of bytes that `amount` returns for the free bytes. If it returns `nil`, they do not suffice,
    /// and the disk counts as full. The result is `nil` if the free space is not known.
    private func take(
        for caller: BudgetCaller,
        _ amount: (_ left: Int) -> Int?
    ) async throws -> (amount: Int, permit: BudgetPermit?)? {
        let (folder, before) = (self.folder, self.state.withLock { $0.landed })
        guard let room = try await FileFolder.blocking({ folder.room() }) else { return nil }
        return try self.state.withLock { state in
            // The free space does not include the kept bytes. It may include bytes that were written since it was read.
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

    /// Returns the number of bytes that an app's files in single requests have already written to disk.
    func kept(app: Int64) -> Int { self.state.withLock { $0.kept[app] ?? 0 } }

    /// Counts bytes that were written to disk and are still charged to the reserved space.
    func keep(_ count: Int, app: Int64) {
        self.state.withLock { state in
            state.kept[app, default: 0] += count
            state.landed += count
        }
    }

    /// Releases the reserved space of bytes that were written to disk.
    /// - Parameter rest: The number of bytes that remain reserved by the permit.
    func settle(_ count: Int, of permit: BudgetPermit?, leaving rest: Int) {
        self.state.withLock { state in
            state.landed += count
            permit?.reduce(to: rest)
        }
    }

    /// Releases the reserved space of a file that is complete or removed.
    /// - Parameter count: The number of the file's bytes that are on disk.
    func release(_ permits: [BudgetPermit], kept count: Int, app: Int64) {
        self.state.withLock { state in
            let rest = (state.kept[app] ?? 0) - count
            state.kept[app] = rest > 0 ? rest : nil
            for permit in permits { permit.end() }
        }
    }
}

struct UploadReservation: Sendable {
    /// The maximum number of bytes that are reserved beyond those that have arrived.
    private static let step = 8 * 1024 * 1024

    private let room: UploadDiskSpace
    private let app: Int64
    private let caller: BudgetCaller
    /// The size of the file, or `nil` if it is not known.
    private let size: Int?
    /// The position up to which bytes were written to disk.
    private var position: Int
    /// The position up to which space is reserved.
    private var end: Int
    private var permits: [BudgetPermit] = []
    private var kept = 0

    /// Creates a reservation without space yet, for bytes that arrive from `position` in the file on.
    init(_ room: UploadDiskSpace, app: Int64, for caller: BudgetCaller, from position: Int = 0, size: Int?) {
        (self.room, self.app, self.caller) = (room, app, caller)
        (self.position, self.end, self.size) = (position, position, size)
    }

    func includes(_ position: Int) -> Bool { position <= self.end }

    /// Reserves space for the bytes up to a position, and for some that follow.
    /// - Parameter most: The maximum number of bytes to reserve.
    /// - Throws: ``UploadFailure/full(_:)``; ``RetryLaterError`` if only the app has reserved too much for now.
    mutating func extend(to position: Int, most: Int = .max) async throws {
        guard !self.includes(position) else { return }
        let needed = position - self.end
        let wanted = max(needed, min(Self.step, most, (self.size ?? .max) - self.end))
        let (amount, permit) = try await self.room.take(needed, wanted: wanted, for: self.caller)
        self.end += amount
        if let permit { self.permits.append(permit) }
    }

    /// Releases the reserved space of the bytes before a position. They are on disk, and the upload's row counts them.
    mutating func settle(upTo position: Int) {
        self.room.settle(position - self.position, of: self.permits.last, leaving: self.end - position)
        self.position = position
        // The last permit was taken when the earlier ones were used up.
        if self.permits.count > 1 { self.permits.removeFirst(self.permits.count - 1) }
    }

    /// Counts the bytes before a position as written to disk. They stay reserved, as no row counts them.
    mutating func keep(upTo position: Int) {
        self.room.keep(position - self.position, app: self.app)
        self.kept += position - self.position
        self.position = position
    }

    mutating func releaseAll() {
        self.room.release(self.permits, kept: self.kept, app: self.app)
        (self.permits, self.kept) = ([], 0)
    }
}
