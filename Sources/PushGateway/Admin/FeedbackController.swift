import Foundation
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// `/v1/feedback`: the entries that wait for providers at the feedback listener. Reading them here does not remove
/// them.
struct FeedbackController: Controller {
    let feedback: FeedbackRecorder

    /// An entry in a response.
    private struct Entry: Encodable {
        /// The time at which the app was found to be removed, in milliseconds since 1970.
        var sinceMs: Int64
        var environment: String
        var topic: String
        var token: String
    }

    var operations: [AdminOperation] {
        [
            .init(
                .get,
                "/v1/feedback",
                id: "listFeedback",
                "The entries of the feedback listener, newest first.",
                self.list
            )
            .parameters(.limit(), .environment, .topic)
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let limit = try request.limit()
        let topic = request.query["topic"]
        var entries: [Entry] = []
        for environment in try request.environment().map({ [$0] }) ?? [.sandbox, .production] {
            let found = try await self.feedback.list(environment).newest(topic: topic, limit: limit - entries.count)
            entries += found.map {
                Entry(
                    sinceMs: $0.time.milliseconds,
                    environment: environment.rawValue,
                    topic: $0.topic.name,
                    token: $0.token.hex
                )
            }
        }
        return try .json(["feedback": entries])
    }
}
