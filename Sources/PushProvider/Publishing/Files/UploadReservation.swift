import PushSupport

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
