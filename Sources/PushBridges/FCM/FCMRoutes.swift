import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ProviderAPI
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// FCM's HTTP v1 API: `messages:send` at its own path, and behind `/fcm/{project}/{secret}`.
struct FCMRoutes: Sendable {
    let access: FCMAccess
    let sender: FCMSender
    let shadow: ShadowForwarder
    let time: any TimeSource

    /// The prefix of paths with the secret of a bridge.
    static let secretPrefix = "fcm/:bridge/:secret/"

    func addRoutes(to router: Router<APIContext>) {
        for prefix in ["", Self.secretPrefix] {
            router.post(RouterPath("\(prefix)v1/projects/:project/messages:send"), use: self.send)
        }
        // What FCM itself has ended.
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

    /// Responds with FCM's own answer, or in its place, and sends nothing.
    private func shadow(
        _ settings: ShadowSettings,
        _ request: Request,
        _ body: Data,
        _ project: FCMSender.Project,
        at: Timestamp
    ) async throws -> Response {
        var answer: ShadowForwarder.Answer?
        if let upstream = settings.upstream {
            var passesCredential = false
            if case .secret = project.admission { passesCredential = true }
            do throws(ShadowForwarder.Failure) {
                answer = try await self.shadow.ask(
                    upstream,
                    target: "/v1/projects/\(project.bridge.name)/messages:send",
                    request,
                    body: body,
                    app: project.app,
                    longest: ShadowForwarder.shortAnswer,
                    passesCredential: passesCredential
                )
            } catch {
                await self.shadow.keep(ShadowComparison(unanswered: error.text, at: at), of: project.bridge)
                // The old server sends what we do not: a client that tries again loses nothing.
                if case .noRoom(let refusal) = error { throw refusal }
                let message = "The server in whose shadow this bridge is does not answer: \(error.text)"
                throw FCMError(503, "UNAVAILABLE", message, code: .unavailable)
            }
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

    private static func response(_ name: String) throws -> Response {
        try .json(["name": JSONValue.string(name)])
    }
}
