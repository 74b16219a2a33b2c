import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// The body of `messages:send`, as far as it concerns Apple's push service.
struct FCMMessage: Hashable, Sendable {
    /// The maximum length of a body, in bytes. It includes blocks for other platforms.
    static let maximumBody = 256 * 1024
    /// The maximum length of a token or an installation id, in bytes.
    private static let maximumTarget = 4096

    /// The recipients of a message.
    enum Target: Hashable, Sendable {
        /// The token of a device.
        case token(DeviceToken)
        /// An installation, by the id that its app registered it with.
        case installation(String)
        /// The subscribers of a topic, or those for whom a condition over topics holds.
        case topics(AudienceExpression)
    }

    /// Indicates whether the message is checked and not sent.
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
        // A Live Activity has a token of its own besides that of the app.
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

    /// Reads the token of a device. FCM's own tokens contain a colon and belong to no device of the provider.
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

    /// Returns the push, checked by the provider's rules.
    func push(to app: Topic, now: Timestamp) throws(FCMError) -> TranslatedPush.Checked {
        let push = try self.content.push(to: app, now: now)
        do throws(RequestError) {
            return try push.checked(for: app, now: now)
        } catch {
            throw FCMError(content: error)
        }
    }
}
