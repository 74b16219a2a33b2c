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
