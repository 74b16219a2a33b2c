import Foundation
import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import PushTypes

/// The routes of FCM's HTTP v1 API: `messages:send` at FCM's own path and below `/fcm/{project}/{secret}`.
struct FCMRoutes: Sendable {
    let access: FCMAccess
    let sender: FCMSender
    let shadow: ShadowForwarder
    let time: any TimeSource

    static let secretPrefix = "fcm/:bridge/:secret/"

    func addRoutes(to router: Router<APIContext>) {
        for prefix in ["", Self.secretPrefix] {
            router.post(RouterPath("\(prefix)v1/projects/:project/messages:send"), use: self.send)
        }
        // FCM has shut these APIs down.
        for path: RouterPath in ["fcm/send", "batch"] { router.post(path, use: self.refuse) }
    }

    @Sendable private func send(_ request: Request, _ context: APIContext) async -> Response {
        await self.access.respond("fcm.send", context) {
            let receivedAt = self.time.now
            let project = try await self.access.project(request, context, scope: .send)
            let (access, maximum) = (self.access.access, FCMMessage.maximumBody)
            return try await access.withBody(of: request, maximum: maximum, project.admission) { body in
                if let shadow = project.settings.shadow {
                    return try await self.shadow(shadow, request, body, project, at: receivedAt)
                }
                let message = try FCMMessage(body)
                let name = try await self.sender.send(
                    message,
                    body,
                    project,
                    receivedAt: receivedAt,
                    on: context.channel
                )
                return try Self.response(name)
            }
        }
    }

    /// Responds in shadow mode with FCM's response, or with the bridge's own response if no FCM server is configured.
    /// No push is sent.
    private func shadow(
        _ settings: ShadowSettings,
        _ request: Request,
        _ body: Data,
        _ project: FCMSender.Project,
        at: Timestamp
    ) async throws -> Response {
        let answer: ShadowForwarder.Answer?
        do {
            answer = try await self.shadow.ask(
                settings,
                target: "/v1/projects/\(project.bridge.name)/messages:send",
                request,
                body: body,
                app: project.app,
                bridge: project.bridge,
                project.admission,
                longest: ShadowForwarder.shortAnswer,
                at: at
            )
        } catch let failure as PinnedClientFailure {
            // The old server sends the pushes instead of the provider, so a client that repeats the request loses
            // nothing.
            let message = "The server in whose shadow this bridge is does not answer: \(failure.text)"
            throw FCMError(503, "UNAVAILABLE", message, code: .unavailable)
        }
        var (token, failure): (DeviceToken?, FCMError?)
        do {
            let message = try FCMMessage(body)
            if case .token(let named) = message.target { token = named }
            _ = try await self.sender.plan(message, project)
        } catch let error as FCMError {
            failure = error
        }
        let theirs = answer.map { FCMResponse(status: $0.status, body: $0.body) }
        await self.shadow.keep(ShadowComparison(failure, target: token, theirs, at: at), of: project.bridge)
        if let answer { return ShadowForwarder.response(answer) }
        if let failure { throw failure }
        return try Self.response(project.name(UUID().uuidString.lowercased()))
    }

    @Sendable private func refuse(_ request: Request, _ context: APIContext) async -> Response {
        await self.access.respond("fcm.ended", context) {
            throw FCMError.notFound("This API has ended: use POST /v1/projects/{project}/messages:send.")
        }
    }

    private static func response(_ name: String) throws -> Response { try .json(["name": JSONValue.string(name)]) }
}

struct FCMResponse: Hashable, Sendable {
    /// The HTTP status, followed by the error code if there is one.
    let text: String

    init(status: Int, body: Data) {
        let error = ((try? JSONValue(parsing: body)) ?? .null)["error"]
        let code = error["details"].elements.lazy.compactMap { $0["errorCode"].stringValue }.first
        let word = (code ?? error["status"].stringValue).map(ShadowComparison.reason)
        self.text = "\(status)\(word.map { " \($0)" } ?? "")"
    }

    /// Creates the response of the bridge. The error is `nil` for a message that would be sent.
    init(_ error: FCMError?) {
        let word = error.map { $0.code?.rawValue ?? $0.name }
        self.text = "\(error?.status ?? 200)\(word.map { " \($0)" } ?? "")"
    }
}

extension ShadowComparison {
    /// Compares the bridge's response to a message with FCM's response.
    /// - Parameters:
    ///   - error: The error with which the bridge would respond, or `nil` for a message that would be sent.
    ///   - target: The token to which the message is addressed, or `nil` for topics and for a message that cannot be
    ///     read.
    ///   - answer: FCM's response, or `nil` if no request was sent to FCM.
    init(_ error: FCMError?, target: DeviceToken?, _ answer: FCMResponse?, at: Timestamp) {
        self.init()
        let ours = FCMResponse(error)
        guard let answer else {
            if error != nil {
                self.differ("status", field: target.map { "\($0)" }, ours: ours.text, theirs: "not asked", at: at)
            }
            return
        }
        guard ours != answer else { return }
        let field = error?.violations.first?.field ?? target.map { "\($0)" }
        self.differ("status", field: field, ours: ours.text, theirs: answer.text, at: at)
    }
}
