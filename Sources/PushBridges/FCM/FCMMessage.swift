import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// The body of `messages:send`, without the members that concern only other platforms.
struct FCMMessage: Hashable, Sendable {
    /// The maximum length of a request body with the blocks for all platforms, in bytes. A longer one is rejected.
    static let maximumBody = 256 * 1024
    /// The maximum length of a message's token, in bytes. A message with a longer one is rejected.
    private static let maximumTarget = 4096

    enum Target: Hashable, Sendable {
        case token(DeviceToken)
        /// An installation, by the id with which its app registered it.
        case installation(String)
        /// The subscribers of a topic, or those whose subscriptions match a condition over topics.
        case topics(AudienceExpression)
    }

    /// A Boolean value that indicates whether the message is only checked and not sent.
    let isTest: Bool
    let target: Target
    private let content: FCMContent

    init(_ body: Data) throws(FCMError) {
        let json: JSONValue
        do throws(RequestError) {
            json = try JSONValue(parsing: body)
        } catch {
            throw .invalid("body", "it is not valid JSON")
        }
        let request = try ProtoFields(json, path: "")
        guard let message = try request.message("message") else { throw .invalid("message", "a message is required") }
        self.isTest = try request.flag("validate_only")
        self.target = try Self.target(message)
        self.content = try FCMContent(message)
    }

    private static func target(_ message: ProtoFields) throws(FCMError) -> Target {
        let named = ["token", "fid", "topic", "condition"].filter { message.value($0) != nil }
        guard let name = named.first, named.count == 1 else {
            let texts = named.isEmpty ? "no target is named" : "\(named.joined(separator: " and ")) are named"
            throw .invalid("message", "\(texts): name exactly one of token, fid, topic and condition")
        }
        // A Live Activity has a separate token from that of the app.
        if let token = try message.message("apns")?.text("live_activity_token") {
            return try Self.token(token, at: "message.apns.live_activity_token")
        }
        let text = try message.text(name) ?? ""
        switch name {
        case "token": return try Self.token(text, at: "message.token")
        case "fid":
            guard (1...Member.maximumText).contains(text.utf8.count) else { throw .unregistered }
            return .installation(text)
        case "topic":
            guard let topic = FCMTopic.name(text) else {
                let most = FCMTopic.maximumName
                throw .invalid("message.topic", "a topic has 1 to \(most) letters, digits and -_.~%")
            }
            return .topics(.tag(FCMTopic.tag(topic)))
        default:
            do throws(FCMCondition.Fault) {
                return .topics(try FCMCondition(text).audience)
            } catch {
                throw .invalid("message.condition", error.description)
            }
        }
    }

    /// Returns the target for a device token. A token of FCM itself contains a colon and belongs to no device of the
    /// provider. It is reported as unregistered.
    private static func token(_ text: String, at place: String) throws(FCMError) -> Target {
        guard !text.contains(":") else { throw .unregistered }
        guard text.utf8.count <= Self.maximumTarget, let token = DeviceToken(userInput: text),
            token.bytes.count >= DeviceRequest.minimumToken
        else {
            let message = "a token is the push service's own here, in hex or base64"
            throw .invalid(place, message, code: .invalidArgument)
        }
        return .token(token)
    }

    /// Returns the push to an app, after the provider's content check.
    /// - Throws: ``FCMError`` for content that the check rejects.
    func push(to app: Topic, now: Timestamp) throws(FCMError) -> TranslatedPush.Checked {
        let push = try self.content.push(to: app, now: now)
        do throws(RequestError) {
            return try push.checked(for: app, now: now)
        } catch {
            throw FCMError(content: error)
        }
    }
}
