import Foundation
import PushTypes
import PushWire

/// An accepted push on its way to the core, and who has to hear when it may be answered.
struct Submission: Sendable {
    var push: AcceptedPush
    var owner: any SubmissionDelegate
    /// The owner's name for it: a stream id, a number in a row.
    var ticket: UInt32
}

/// What became of a submission: the push is with its device, or on disk, or need not be kept; or none of that worked.
struct SubmissionResult: Hashable, Sendable {
    var ticket: UInt32
    /// The push's `apns-id`.
    var id = ""
    /// Why the push is not accepted; `nil` if it is. ``Reason/internalServerError`` where it could not be stored,
    /// ``Reason/tooManyRequests`` where too much is on its way to the device already.
    var refusal: Reason?

    var isAccepted: Bool { self.refusal == nil }
}

/// The door that a push came through.
protocol SubmissionDelegate: AnyObject, Sendable {
    /// Called on any thread, in any order, once for each ticket.
    func settled(_ settlements: [SubmissionResult])
}

/// Takes accepted pushes: the core behind all provider doors of one environment.
protocol PushSubmitter: Sendable {
    /// Never blocks. Pushes of one call are taken in their order.
    func submit(_ submissions: [Submission])
    /// A push to a token that is gone: an event, and an entry for the feedback service (reference 6).
    func refusedUnregistered(_ token: DeviceToken, device: UUID, topic: TopicHash, apnsID: String, since: Timestamp)
}
