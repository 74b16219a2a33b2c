import PushTypes

/// An accepted push on its way to the router, and the connection that waits for its result.
struct Submission: Sendable {
    var push: AcceptedPush
    var owner: any SubmissionDelegate
    /// The number by which the owner knows the push: a stream id, or a serial number.
    var ticket: UInt32

    var pending: PendingSubmission {
        PendingSubmission(owner: self.owner, ticket: self.ticket, id: self.push.notification.id)
    }
}

/// A push whose owner waits for the result. The state machine carries it and never calls the owner.
struct PendingSubmission: Sendable {
    var owner: any SubmissionDelegate
    var ticket: UInt32
    /// The push's `apns-id`.
    var id: String
}

/// The result of a submission: the push is with its device, on disk, or need not be stored; or it is rejected.
struct SubmissionResult: Hashable, Sendable {
    var ticket: UInt32
    /// The push's `apns-id`.
    var id = ""
    /// The reason of a rejected push; `nil` if it is accepted. ``Reason/internalServerError`` where it could not be
    /// stored, ``Reason/tooManyRequests`` where too much is in flight to the device.
    var rejection: Reason?

    var isAccepted: Bool { self.rejection == nil }
}

/// The connection from which a push was received, which gets its result.
protocol SubmissionDelegate: AnyObject, Sendable {
    /// Called on any thread, in any order, once for each ticket.
    func settled(_ results: [SubmissionResult])
}

/// Takes accepted pushes: the router behind the provider listeners of one environment.
protocol PushSubmitter: Sendable {
    /// Takes pushes in their order. Never blocks.
    func submit(_ submissions: [Submission])
    /// Reports a push to a token that is not registered any more: an event, and an entry for the feedback service
    /// (reference 6).
    func rejected(_ token: UnregisteredToken, apnsID: String)
}
