import Foundation
import PushTypes
import PushWire

/// A change of channels that has passed every check.
struct ChannelCommand: Hashable, Sendable {
    enum Action: Hashable, Sendable {
        case create(ChannelPolicy)
        case delete(String)
    }

    var action: Action
    var bundleID: Topic
    var environment: PushEnvironment
    var requestID: String
}

/// Checks a request of channel management (reference 4.1, 4.3), and responds to one that changes nothing.
struct ChannelRequestValidator: Sendable {
    private static let members: Set<String> = ["message-storage-policy", "push-type"]

    let shared: ProviderSession.Shared

    /// - Parameter isList: Whether the path was `…/all-channels`, not `…/channels`.
    func validate(
        _ request: ProviderRequest,
        app: String,
        isList: Bool,
        authentication: inout ProviderAuthentication,
        requestID: String,
        now: Timestamp
    ) throws(ProviderRejection) -> ProviderSession.Decision {
        let methods = isList ? ["GET"] : ["POST", "GET", "DELETE"]
        guard methods.contains(request.method) else { throw ProviderRejection(.methodNotAllowed) }
        let access = ChannelAccess(shared: self.shared)
        let bundleID = try access.app(app, request, authentication: &authentication, now: now)
        if isList { return .respond(self.list(bundleID, requestID)) }
        switch request.method {
        case "GET":
            let channel = try access.channel(request, app: bundleID)
            return .respond(Self.description(of: channel.policy, requestID))
        case "DELETE":
            let channel = try access.channel(request, app: bundleID)
            return .manage(self.command(.delete(channel.id), bundleID, requestID))
        default:
            return .manage(self.command(.create(try Self.policy(request)), bundleID, requestID))
        }
    }

    private func command(_ action: ChannelCommand.Action, _ bundleID: Topic, _ requestID: String) -> ChannelCommand {
        ChannelCommand(action: action, bundleID: bundleID, environment: self.shared.environment, requestID: requestID)
    }

    private static func policy(_ request: ProviderRequest) throws(ProviderRejection) -> ChannelPolicy {
        let object = try ChannelAccess.object(request)
        guard object.keys.allSatisfy(Self.members.contains) else { throw ProviderRejection(.badRequestParams) }
        let type = object["push-type"]
        guard type == nil || type is String else { throw ProviderRejection(.invalidPushType) }
        try ChannelAccess.check(pushType: type as? String)
        let policy = (object["message-storage-policy"] as? Int).flatMap(ChannelPolicy.init(rawValue:))
        guard let policy else { throw ProviderRejection(.missingChannelQueueSize) }
        return policy
    }

    // MARK: Responses. Channel ids are base64 and need no escapes.

    private static func description(of policy: ChannelPolicy, _ requestID: String) -> ProviderResponse {
        let body = #"{"message-storage-policy":\#(policy.rawValue),"push-type":"LiveActivity"}"#
        return ProviderResponse(status: 200, requestID: requestID, body: body)
    }

    private func list(_ bundleID: Topic, _ requestID: String) -> ProviderResponse {
        let ids = self.shared.channels.channels(app: bundleID, in: self.shared.environment)
        let body = #"{"channels":[\#(ids.map { "\"\($0)\"" }.joined(separator: ","))]}"#
        return ProviderResponse(status: 200, requestID: requestID, body: body)
    }
}
