@testable import PushGateway

/// Waits for one push.
final class SingleSubmission: SubmissionOwner {
    private let completion: @Sendable (Bool) -> Void

    init(completion: @escaping @Sendable (Bool) -> Void) {
        self.completion = completion
    }

    func settled(_ settlements: [Settlement]) {
        for settlement in settlements { self.completion(settlement.isAccepted) }
    }
}
