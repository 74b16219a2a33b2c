package import PushHTTP
package import PushTypes

/// A problem that an operator should know about, with its cause and its remedy.
package struct HealthProblem: ResponseObject {
    /// The kinds of problems. Those that keep pushes from being sent come first.
    package enum Code: String, CaseIterable, JSONRepresentable {
        case appStopped, environmentPaused, diskLow, breakerOpen, certificateExpired, certificateEnds
        case bridgeOverruled, scheduleProblem, webhookDisabled, webhookFailing, filesMissing, logGrows, nodeLost
    }

    package let code: Code
    /// The bundle id of the app, or `nil` for a problem of the server.
    package var app: Topic?
    package var environment: PushEnvironment?
    /// The id of the webhook or schedule, or the name of the bridge, that has the problem, or `nil` for other problems.
    package var object: String?
    package let message: String
    package let remedy: String
    var since: Timestamp?

    package static let schemaName: String? = "Trouble"
    package static let members: [ResponseMember<Self>] = [
        .required("code", \.code),
        .optional("app", \.app, "Absent for what concerns the server."),
        .optional("environment", \.environment),
        .optional("object", \.object, "The id of the webhook or the schedule, or the name of the bridge."),
        .required("message", \.message, "The cause, in one sentence."),
        .required("remedy", \.remedy, "What ends it."),
        .optional("sinceMs", \.since),
    ]
}
