import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes
import PushWire

/// The routes below `/push`, where senders post messages for installations and apps fetch long messages.
///
/// Any client that knows an address may post to it. No other credential is needed, unless the app has bound the address
/// to a sender's VAPID key.
struct WebPushRoutes: Sendable {
    let store: any AppStore & PushResourceStore
    let acceptor: NotificationAcceptor
    let runner: OperationRunner
    let origins: PushOrigins
    let budgets: BudgetRegistry
    /// The rules for the URLs at which senders are notified of the end of a push resource. Other URLs are ignored.
    let addresses: AddressPolicy
    let time: any TimeSource
    /// The hashes of existing addresses that have received messages. Requests to them are served even if they come from
    /// a network that has named too many unknown addresses.
    private let known = SharedCache<[UInt8], Void>(maximum: 65_536)

    static let origin = NotificationOrigin(.webPush, bridge: "receive")

    func addRoutes(to router: Router<APIContext>) {
        router.post("push/:id") { request, context in
            await self.respond("webpush.receive") { try await self.receive(request, context) }
        }
        router.get("push/messages/:id") { request, context in
            await self.respond("webpush.fetch") { try await self.fetch(request, context) }
        }
    }

    // MARK: Receiving

    private func receive(_ request: Request, _ context: APIContext) async throws -> Response {
        let client = BudgetCaller(clientOf: context.channel)
        try self.budgets[.addressMessages].spend(for: client)
        let receivedAt = self.time.now
        let hash = PushCapability(context.path("id"))?.hash
        // A client that has used too many unknown addresses cannot find out which addresses exist but have no messages
        // yet.
        if hash.map(self.known.contains) != true { try self.budgets[.unknownTargets].check(for: client) }
        guard let hash, let target = try await self.store.pushResourceTarget(hash: hash),
            let app = try await self.store.app(id: target.resource.app)
        else {
            if let hash { self.known[hash] = nil }
            try self.budgets[.unknownTargets].spend(for: client)
            throw Self.gone
        }
        self.known.insert(hash)
        do {
            try self.identify(request, target.resource)
        } catch {
            // Unauthenticated requests to a bound address do not count against the rate of its sender.
            try self.budgets[.unknownTargets].spend(for: client)
            throw error
        }
        let subscription = BudgetCaller(app: app.bundleID, .name(target.resource.id.uuidString))
        try self.budgets[.resourceMessages].spend(for: subscription)
        let body = try await request.wholeBody(maximum: WebPushRequest.maximumBody)
        let message: WebPushRequest
        do throws(WebPushRequest.Fault) {
            message = try WebPushRequest(hasBody: !body.isEmpty) { name in
                HTTPField.Name(name).map { request.headers[values: $0] } ?? []
            }
        } catch {
            let kind: RequestError.Kind = error.status == 415 ? .unsupportedType : .invalid
            throw RequestError(kind, code: "bad_request", message: error.description)
        }
        let push = try ReceivedPush(
            message,
            body: body,
            to: target.resource,
            of: app.bundleID,
            id: UUID(),
            token: PushCapability(),
            now: receivedAt
        )
        let sender = BudgetCaller(app: app.bundleID, client.identity.site)
        // A connection is assigned to a sender only after a valid message, not for an endless or malformed body. It is
        // charged to the sender's network, because a client that has one address may have others.
        try self.runner.connections.assign(context.channel, to: sender)
        // A sender interprets this rejection as a failure of the provider and sends the message again.
        let place = try self.budgets[.pushMessages].take(for: sender)
        defer { place.end() }
        await self.note(request, target.resource)
        try await self.accept(push, target, receivedAt: receivedAt)
        let origin = self.origins.own(request)?.description ?? ""
        return Response(
            status: .created,
            headers: [.location: "\(origin)/push/messages/\(push.id.uuidString.lowercased())", .ttl: String(push.ttl)]
        )
    }

    /// Checks the VAPID credential of a request if the push resource is bound to a sender. Throws ``RequestError`` if
    /// the credential is missing or is not that sender's.
    private func identify(_ request: Request, _ resource: PushResourceRecord) throws {
        guard let key = resource.vapidKey else { return }
        let authorization = request.headers[values: .authorization].first
        // The decryption key and the sender's key may be in separate fields, which form one list.
        let cryptoKey = HTTPField.Name("crypto-key").flatMap { request.headers[$0] }
        guard authorization != nil else {
            let message = "this address accepts one sender only: identify with VAPID"
            throw RequestError(.unauthenticated, code: "vapid_required", message: message, path: "authorization")
        }
        let origins = self.origins.accepted(of: resource)
        var fault = VAPIDCredential.Fault.malformed
        if let credential = VAPIDCredential(authorization: authorization, cryptoKey: cryptoKey) {
            fault = .audience
            for origin in origins {
                do throws(VAPIDCredential.Fault) {
                    return try credential.check(key: key, origin: origin, now: self.time.now)
                } catch {
                    fault = error
                    if error != .audience { break }
                }
            }
        }
        throw RequestError(.forbidden, code: "vapid_refused", message: "\(fault)", path: "authorization")
    }

    private func accept(_ push: ReceivedPush, _ target: PushResourceTarget, receivedAt: Timestamp) async throws {
        // The message is stored before the notification, because its receiver fetches it at once. If the notification
        // fails, the message is deleted when it expires.
        if let stored = push.stored { try await self.store.addPushMessage(stored) }
        let request = NotificationRequest(
            content: push.content,
            audience: .tokens([target.token]),
            environment: target.environment
        )
        do {
            _ = try await self.acceptor.accept(
                request,
                app: target.resource.app,
                id: push.id,
                acceptance: AcceptanceRecord(receivedAt: receivedAt, origin: Self.origin)
            )
        } catch let error as RequestError {
            // A sender would interpret any other status as the end of the push resource.
            throw RequestError(.unavailable, code: error.code, message: "the message cannot be sent now")
        }
    }

    /// Stores the URL at which the sender is notified of the end of the push resource. If that fails, the message is
    /// accepted nevertheless.
    private func note(_ request: Request, _ resource: PushResourceRecord) async {
        guard let text = request.headers[values: .unsubscribeURL].first,
            let url = try? WebhookAddress(text, policy: self.addresses).url, url != resource.unsubscribeURL
        else { return }
        try? await self.store.setUnsubscribeURL(url, of: resource)
    }

    // MARK: Fetching

    private func fetch(_ request: Request, _ context: APIContext) async throws -> Response {
        let client = BudgetCaller(clientOf: context.channel)
        try self.budgets[.addressMessages].spend(for: client)
        let parts = request.headers[.authorization]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0].lowercased() == "bearer", let token = PushCapability(String(parts[1])),
            let id = UUID(uuidString: context.path("id")),
            let message = try await self.store.pushMessage(id, now: self.time.now), message.tokenHash == token.hash
        else {
            try self.budgets[.unknownTargets].spend(for: client)
            throw RequestError.noSuch("message")
        }
        return .content(ByteBuffer(bytes: message.body), "application/octet-stream", .ok, [.cacheControl: "no-store"])
    }

    // MARK: Responses

    private static var gone: RequestError {
        RequestError(.notFound, code: "no_such_subscription", message: "there is no such subscription, or it has ended")
    }

    /// Runs `body`, counts its response, and converts its errors into responses. Neither messages nor their addresses
    /// are logged.
    private func respond(_ operation: String, _ body: () async throws -> Response) async -> Response {
        await self.runner.respond(operation, at: ["operation": .string(operation)], failure: { .error($0) }, body)
    }
}

extension HTTPField.Name {
    /// The header field in which a proxy reports the scheme that its client used.
    static var xForwardedProto: HTTPField.Name { .named("x-forwarded-proto") }
    static var ttl: HTTPField.Name { .named("ttl") }
    static var unsubscribeURL: HTTPField.Name { .named("unsubscribe-url") }

    private static func named(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .location }
}
