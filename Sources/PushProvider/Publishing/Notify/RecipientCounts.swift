import PushStore
import PushSupport
import PushTypes

/// Numbers of recipients that are shown before anything is sent, each counted once a minute.
///
/// Counting a million devices takes half a second, and a page that shows their number is often loaded again.
final class RecipientCounts: Sendable {
    /// The devices that are counted.
    struct Counted: Hashable, Sendable {
        var app: Int64
        var audience: AudienceExpression
        var environment: PushEnvironment
    }

    private struct Number {
        var value: Int
        var countedAt: Timestamp
    }

    /// The time for which a number is shown.
    private static let age: Duration = .seconds(60)

    private let numbers = SharedCache<Counted, Number>(maximum: 1000)

    /// Returns a number that is at most a minute old.
    /// - Parameter now: The time of the steady clock.
    func count(_ counted: Counted, now: Timestamp, _ count: () async throws -> Int) async throws -> Int {
        if let known = self.numbers[counted], now.since(known.countedAt) < Self.age { return known.value }
        let number = Number(value: try await count(), countedAt: now)
        self.numbers[counted] = number
        return number.value
    }
}
