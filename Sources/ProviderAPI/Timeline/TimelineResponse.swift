package import PushHTTP
package import PushProvider
import PushSupport
import PushTypes

/// A timeline in a response.
package struct TimelineResponse: ResponseObject {
    package let timeline: Timeline

    /// The steps with the time since the one before.
    package var steps: [TimelineStepResponse] {
        var before: Timestamp?
        return self.timeline.steps.map { step in
            defer { before = step.at }
            return TimelineStepResponse(
                step: step,
                since: before.map { max(0, step.at.since($0).milliseconds) }
            )
        }
    }

    package static let schemaName: String? = "Timeline"
    package static let members: [ResponseMember<Self>] = [
        .required("kind", \.timeline.kind),
        .required("notification", \.timeline.notification),
        .optional("app", \.timeline.app),
        .optional("apnsId", \.timeline.apnsID, as: .uuid),
        .optional("deviceId", \.timeline.device),
        .optional("token", \.timeline.token, "The first bytes."),
        .optional("environment", \.timeline.environment),
        .required("state", \.timeline.state, "Of the delivery, pending before it has one; or of the notification."),
        .optional("reason", \.timeline.reason),
        .required("steps", \.steps),
        .required("notes", \.timeline.notes, "What is not known, and the cause."),
    ]
}

/// A step of a timeline in a response.
package struct TimelineStepResponse: ResponseObject {
    package let step: TimelineStep
    /// Milliseconds since the step before; `nil` for the first one.
    package let since: Int64?

    package static let schemaName: String? = "TimelineStep"
    package static let members: [ResponseMember<Self>] = [
        .required("atMs", \.step.at),
        .optional("sinceMs", \.since, as: .integer(), "Milliseconds since the step before."),
        .required("source", \.step.source),
        .required("event", \.step.event),
        .required("text", \.step.text),
    ]
}

extension Timeline.Kind: JSONRepresentable {}
extension TimelineStep.Source: JSONRepresentable {}
extension TimelineStep.Event: JSONRepresentable {}
