import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operation at `/v1/apps/{app}/environments/{environment}:feedback`, which reads the legacy feedback service.
struct FeedbackController: Controller {
    let store: any AppStore & FeedbackStore
    let service: FeedbackService
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let path = "/v1/apps/{app}/environments/{environment}"
        return [
            .init(.get, "\(path)/feedback", id: "showFeedback", self.show)
                .summary("The last reading of an environment's feedback service.")
                .tag(.tokens).scope(.read).responses(.ok(FeedbackResponse.schema)),
            .init(.post, "\(path):feedback", .audited, id: "readFeedback", self.read)
                .summary("Reads the feedback service now, and deactivates the devices that it lists.")
                .tag(.tokens).scope(.operate)
                .responses(.ok(FeedbackResponse.schema, "The reading was made, whether it failed or not."))
                .errors(.conflict),
        ]
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let environment = try request.pathEnvironment()
        let app = try await request.app(self.store)
        let target = AppEnvironment(app: app.id, environment: environment)
        guard let run = try await self.store.feedbackRun(of: target) else {
            let message = "the feedback service of this environment was not read yet"
            throw RequestError(.notFound, code: "no_feedback", message: message, path: "environment")
        }
        return try .json(FeedbackResponse(run: run, environment: environment, clocks: self.time.reading))
    }

    /// Reads the feedback service. The read continues if the client disconnects.
    private func read(_ request: OperationRequest) async throws -> Response {
        let environment = try request.pathEnvironment()
        let app = try await request.app(self.store)
        let target = AppEnvironment(app: app.id, environment: environment)
        let run = try await Task { try await self.service.read(target) }.value
        return try .json(FeedbackResponse(run: run, environment: environment, clocks: self.time.reading))
    }
}

private struct FeedbackResponse: ResponseObject {
    let run: FeedbackRun
    let environment: PushEnvironment
    let clocks: ClockReading

    static let schemaName: String? = "Feedback"
    static let members: [ResponseMember<Self>] = [
        .required("environment", \.environment),
        .required("startedAtMs", \.run.startedAt),
        .optional("endedAtMs", \.run.endedAt, "Absent while it is being read."),
        .required("nextAtMs", { $0.clocks.wall(atSteady: $0.run.nextAt) }),
        .required("tokens", \.run.counts.tokens, "The tokens that the service listed."),
        .required("deactivated", \.run.counts.deactivated, "The devices that are inactive because of it."),
        .required("kept", \.run.counts.kept, "The devices that registered at the time of their entry or later."),
        .required("withheld", \.run.counts.withheld, "The devices about which an operator decides, see hygiene."),
        .required("unknown", \.run.counts.unknown, "The tokens without an active device."),
        .required("failures", \.run.failures, "The failures in a row."),
        .optional("error", \.run.error),
    ]
}
