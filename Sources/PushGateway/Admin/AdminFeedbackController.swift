import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// The operation at `/v1/feedback`, which lists the feedback entries that providers have not read yet at the feedback
/// listener. Reading them here does not remove them.
struct AdminFeedbackController: Controller {
    let feedback: FeedbackRecorder

    var operations: [AdminOperation] {
        [
            .get("/v1/feedback", "listFeedback", "The entries of the feedback listener, newest first.", self.list)
                .parameters(.limit(), .environment, .topic)
        ]
    }

    /// Responds with the newest entries, those of the sandbox first.
    private func list(_ request: OperationRequest) async throws -> Response {
        let limit = try request.limit()
        var entries: [JSONValue] = []
        for environment in try request.environment().map({ [$0] }) ?? [.sandbox, .production] {
            let (list, rest) = (self.feedback.list(environment), limit - entries.count)
            entries += try await list.newest(topic: request.query["topic"], limit: rest).map { entry in
                .object([
                    "sinceMs": entry.time.json, "environment": environment.json, "topic": entry.topic.json,
                    "token": entry.token.hex.json,
                ])
            }
        }
        return try .page("feedback", entries)
    }
}
