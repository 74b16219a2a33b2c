import Hummingbird
import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
package import PushTypes

/// The operations at `/v1/apps/{app}/environments`, which show the state of an app's environments and end their pauses.
struct EnvironmentsController: Controller {
    let store: any AppStore
    let faults: ConfigurationFaultTracker
    let monitor: ConfigurationFaultMonitor

    var operations: [ProviderOperation] {
        let path = "/v1/apps/{app}/environments/{environment}"
        return [
            .init(.get, path, id: "showEnvironment", self.show)
                .summary("Whether an app's pushes to an environment are sent, and if not, why.")
                .tag(.apps).scope(.read).responses(.ok(EnvironmentResponse.schema)),
            .init(.post, "\(path):resume", .audited, id: "resumeEnvironment", self.resume)
                .summary("Probes a paused environment now, and resumes it if that succeeds.")
                .tag(.apps).scope(.operate).responses(.ok(EnvironmentResponse.schema, "The state after the probe.")),
        ]
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let environment = try request.pathEnvironment()
        let app = try await request.app(self.store)
        return try .json(try await EnvironmentResponse(app, environment, self.faults))
    }

    private func resume(_ request: OperationRequest) async throws -> Response {
        let environment = try request.pathEnvironment()
        let app = try await request.app(self.store)
        try await self.monitor.probe(AppEnvironment(app: app.id, environment: environment))
        return try .json(try await EnvironmentResponse(app, environment, self.faults))
    }
}

extension EnvironmentResponse {
    init(_ app: AppRecord, _ environment: PushEnvironment, _ faults: ConfigurationFaultTracker) async throws {
        let target = AppEnvironment(app: app.id, environment: environment)
        self.init(environment: environment, status: try await faults.status(of: target), app: app.bundleID)
    }

    /// The warning for a response to a request that sends to this environment, or `nil` if pushes can be sent.
    var warning: ContentWarning? {
        guard let status, let advice else { return nil }
        let since = status.since.rfc3339
        let state = status.isPaused ? "is paused since \(since)" : "failed at \(since)"
        let app = self.app?.name ?? "this app"
        return ContentWarning(
            field: "environment",
            message:
                "sending of \(app) to \(self.environment.rawValue) \(state): \(status.fault.description). \(advice)"
        )
    }

    /// Returns the states of the environments that are paused or failing, or an empty list if all are running.
    static func faulty(
        _ app: AppRecord,
        _ environments: [PushEnvironment],
        _ faults: ConfigurationFaultTracker
    ) async throws -> [EnvironmentResponse] {
        var states: [EnvironmentResponse] = []
        for environment in environments {
            let state = try await EnvironmentResponse(app, environment, faults)
            if state.status != nil { states.append(state) }
        }
        return states
    }
}

/// The response object for an environment of an app, which is running, failing or paused, with its fault if it has one.
package struct EnvironmentResponse: ResponseObject {
    package let environment: PushEnvironment
    /// The fault, its time, and whether sending is paused because of it, or `nil` while the environment is running.
    let status: EnvironmentStatus?
    /// The bundle id of the app, which the advice and the warning name, or `nil` to use the words *this app*.
    let app: Topic?

    package var state: String {
        guard let status else { return "running" }
        return status.isPaused ? "paused" : "failing"
    }
    private var fault: ConfigurationFault? { self.status?.fault }
    var advice: String? { self.fault?.advice(app: self.app, self.environment) }

    package static let schemaName: String? = "EnvironmentState"
    package static let members: [ResponseMember<Self>] = [
        .required("environment", \.environment),
        .required("state", \.state, as: .choice(["running", "failing", "paused"]), Self.stateDescription),
        .optional("cause", \.fault?.cause.rawValue, as: .choice(of: ConfigurationFault.Cause.self)),
        .optional("message", \.fault?.description, "What is wrong, in one sentence."),
        .optional("advice", \.advice, "What to change."),
        .optional("host", \.fault?.host),
        .optional("port", \.fault?.port),
        .optional("sinceMs", \.status?.since),
        .optional("proofs", \.status?.proofs, "The responses or failures that show the fault."),
        .optional("nextTryMs", \.status?.nextProbeAt, "The time of the next probe of a paused environment."),
    ]

    private static let stateDescription =
        "paused: nothing is sent until a credential is set or a probe succeeds; failing: the last try failed."
}
