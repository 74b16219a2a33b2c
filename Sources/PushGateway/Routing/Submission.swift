import PushTypes

/// An accepted push that is passed to the router, and the connection that waits for its result.
struct Submission: Sendable {
    var push: AcceptedPush
    var owner: any SubmissionDelegate
    /// The number by which the owner recognizes the push's result: a stream id of HTTP/2, or a serial number.
    var ticket: UInt32

    var pending: PendingSubmission {
        PendingSubmission(owner: self.owner, ticket: self.ticket, id: self.push.notification.id)
    }
}

/// A push whose owner waits for the result. The state machine stores it and never calls the owner.
struct PendingSubmission: Sendable {
    var owner: any SubmissionDelegate
    var ticket: UInt32
    var id: String
}

/// The result of a submitted push. It is accepted if it is acknowledged, on disk, or not to be stored, and otherwise
/// rejected.
struct SubmissionResult: Hashable, Sendable {
    var ticket: UInt32
    var id = ""
    /// The reason why the push is rejected, or `nil` if it is accepted. It is ``Reason/internalServerError`` if the
    /// push could not be stored, and ``Reason/tooManyRequests`` if too many messages are in flight to the device.
    var rejection: Reason?

    var isAccepted: Bool { self.rejection == nil }
}

/// The connection from which a push was received, and which receives the push's result.
protocol SubmissionDelegate: AnyObject, Sendable {
    /// Informs the connection of results. This method is called on any thread, in any order, once for each ticket.
    func settled(_ results: [SubmissionResult])
}

/// Accepts the pushes of the provider listeners of one environment. The router implements it.
protocol PushSubmitter: Sendable {
    /// Accepts pushes in their order. The call never blocks.
    func submit(_ submissions: [Submission])
    /// Reports a push to a token that is no longer registered: logs an event, and adds an entry for the feedback
    /// service (reference 6).
    func rejected(_ token: UnregisteredToken, apnsID: String)
}
