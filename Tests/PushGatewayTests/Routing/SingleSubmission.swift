@testable import PushGateway

/// Waits for the result of one push.
final class SingleSubmission: SubmissionDelegate {
    private let completion: @Sendable (Bool) -> Void

    init(completion: @escaping @Sendable (Bool) -> Void) {
        self.completion = completion
    }

    func settled(_ settlements: [SubmissionResult]) {
        for settlement in settlements { self.completion(settlement.isAccepted) }
    }
}
