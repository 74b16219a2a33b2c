import Foundation
import PushHTTP
import PushStore
import PushTypes

/// A token event in a response: a change to a token, with its reason.
struct TokenEventResponse: Encodable {
    var id: Int64
    var action: String
    var deviceId: Int64
    var token: String
    var environment: String
    var reason: String?
    var notification: String?
    var atMs: Int64

    init(_ event: TokenEventRecord) {
        self.id = event.id
        self.action = event.action.rawValue
        self.deviceId = event.device
        self.token = event.token.hex
        self.environment = event.environment.rawValue
        self.reason = event.reason
        self.notification = event.notification?.uuidString
        self.atMs = event.at.milliseconds
    }

    static let schema = Schema.object(
        required: [
            "id": .integer(), "action": .choice(of: TokenEventRecord.Action.self),
            "deviceId": .integer(), "token": .string(), "environment": .environment, "atMs": .timestamp,
        ],
        optional: ["reason": .string(), "notification": .uuid]
    ).named("TokenEvent")
}
