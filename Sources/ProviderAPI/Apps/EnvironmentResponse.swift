package import PushHTTP
import PushProvider
import PushStore
import PushSupport
package import PushTypes

/// The state of one of an app's environments in a response: whether pushes are sent, and if not, why.
package struct EnvironmentResponse: ResponseObject {
    package let environment: PushEnvironment
    /// `nil` without a fault.
    let status: EnvironmentStatus?
    /// The bundle id of the app.
    let app: Topic?

    package var state: String {
        guard let status else { return "running" }
        return status.isPaused ? "paused" : "failing"
    }
    private var fault: ConfigurationFault? { self.status?.fault }
    private var cause: String? { self.fault?.cause.rawValue }
    var advice: String? { self.fault?.advice(app: self.app, self.environment) }

    package static let schemaName: String? = "EnvironmentState"
    package static let members: [ResponseMember<Self>] = [
        .required("environment", \.environment),
        .required("state", \.state, as: .choice(["running", "failing", "paused"]), Self.stateDescription),
        .optional("cause", \.cause, as: .choice(of: ConfigurationFault.Cause.self)),
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
