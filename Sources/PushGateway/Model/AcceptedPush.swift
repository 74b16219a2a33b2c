import Foundation
import PushTypes
import PushWire

/// A push that has passed every check.
struct AcceptedPush: Hashable, Sendable {
    var notification: PushNotification
    var token: DeviceToken
    var device: UUID
    var topicHash: TopicHash
}
