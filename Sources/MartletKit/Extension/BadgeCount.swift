import Foundation

/// The badge number on the app's icon, which both the app and its extension change.
public struct BadgeCount: Sendable {
    /// A change of the badge number. The result is clamped to the range from 0 to ``BadgeCount/maximum``.
    public enum Change: Hashable, Sendable {
        case set(Int)
        /// A change that adds the value to the badge number. A negative value reduces it.
        case increment(Int)
    }

    public static let maximum = 99_999

    private let value: SharedValue

    /// Creates access to the badge number in a storage.
    /// - Parameter storage: The storage that the app and its extension share.
    public init(storage: any MartletStorage) { self.value = SharedValue(storage: storage, prefix: "badge-") }

    /// Returns the badge number, or 0 if none was ever stored.
    /// - Throws: An error of the storage.
    public func current() throws -> Int { Self.number(try self.value.read()) }

    /// Changes the badge number and returns the new one.
    /// - Throws: An error of the storage.
    @discardableResult
    public func apply(_ change: Change) throws -> Int {
        try self.value.update { old in
            let number = Self.applying(change, to: Self.number(old))
            return (Data("\(number)".utf8), number)
        }
    }

    /// Applies the badge change that a notification requests, and returns the new number, or `nil` if it requests none.
    ///
    /// The member `badge` of `aps` sets the number. If it is absent, the integer `badgeChange` in the payload is added.
    /// - Throws: An error of the storage.
    public func apply(_ notification: ReceivedNotification) throws -> Int? {
        if let badge = notification.badge { return try self.apply(.set(badge)) }
        guard case .integer(let change)? = notification.data["badgeChange"] else { return nil }
        return try self.apply(.increment(Int(clamping: change)))
    }

    static func applying(_ change: Change, to number: Int) -> Int {
        let (result, isOverflow) =
            switch change {
            case .set(let number): (number, false)
            case .increment(let difference): number.addingReportingOverflow(difference)
            }
        guard !isOverflow else { return change.grows ? Self.maximum : 0 }
        return min(max(result, 0), Self.maximum)
    }

    /// Parses a stored number, within the permitted range. Other data, such as a damaged file, counts as 0.
    private static func number(_ stored: Data?) -> Int {
        let number = stored.flatMap { Int(String(decoding: $0.prefix(8), as: UTF8.self)) } ?? 0
        return min(max(number, 0), Self.maximum)
    }
}

extension BadgeCount.Change {
    /// A Boolean value that indicates whether the change increases the number. If such a change overflows, the result
    /// is the maximum.
    fileprivate var grows: Bool {
        switch self {
        case .set(let number): number > 0
        case .increment(let difference): difference > 0
        }
    }
}
