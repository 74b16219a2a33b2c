import PushTypes
import Synchronization

/// The addresses that were asked lately whether they are endpoints of UnifiedPush, and what they said.
final class UnifiedPushEndpoints: Sendable {
    /// The maximum number of addresses that are remembered.
    private static let maximum = 10_000
    /// The times for which the answer of an endpoint counts, and that of another address.
    private static let (trusted, refused) = (Duration.seconds(86_400), Duration.seconds(600))

    private struct Answer {
        var isEndpoint: Bool
        var until: Timestamp
    }

    private let answers = Mutex<[String: Answer]>([:])

    /// Returns what an address has said; `nil` if it has to be asked.
    /// - Parameter now: The time of the steady clock.
    func isEndpoint(_ address: String, now: Timestamp) -> Bool? {
        self.answers.withLock { answers in
            guard let answer = answers[address], now < answer.until else { return nil }
            return answer.isEndpoint
        }
    }

    func note(_ address: String, isEndpoint: Bool, now: Timestamp) {
        let answer = Answer(isEndpoint: isEndpoint, until: now.advanced(by: isEndpoint ? Self.trusted : Self.refused))
        self.answers.withLock { answers in
            if answers.count >= Self.maximum {
                answers = answers.filter { now < $0.value.until && $0.value.isEndpoint }
                if answers.count >= Self.maximum { answers = [:] }
            }
            answers[address] = answer
        }
    }

    /// Forgets an address that is no endpoint any more.
    func forget(_ address: String) { self.answers.withLock { $0[address] = nil } }
}
