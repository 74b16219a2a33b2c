import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The forms of older systems under `/compat`: a publisher's registration and notify forms, and a web application's
/// registration form. They bring their own proof instead of an API key in a header, see ``CompatibilityConfiguration``.
struct CompatibilityRoutes: Sendable {
    let configuration: CompatibilityConfiguration
    let store: any ProviderStore
    let keys: APIKeys
    let intake: NotificationAcceptor
    let rates: KeyRateLimiter
    let metrics: RequestMetrics
    let time: any TimeSource
    let logger: Logger

    /// To the router itself, not to what asks for an API key.
    func addRoutes(to group: RouterGroup<APIContext>) {
        for path: RouterPath in ["compat/publisher/:app/register", "compat/publisher/:app/:key/register"] {
            group.get(path, use: self.registerPublisher).post(path, use: self.registerPublisher)
        }
        let notify: RouterPath = "compat/publisher/:app/notify"
        group.get(notify, use: self.notifyPage)
        group.post(notify, use: self.notify)
        group.post("compat/rails/:app/:key/admin/apns_devices.json", use: self.registerRails)
    }

    @Sendable private func registerPublisher(_ request: Request, _ context: APIContext) async -> Response {
        await self.answer("compat.publisherRegister", in: .text, context) {
            let door = try self.door(context)
            let form = try await FormRequest.fields(of: request)
            let isOpen = context.parameters.get("key").map(door.opens(with:)) ?? door.opens(for: form["accountId"])
            guard isOpen else { throw Self.closed }
            _ = try await self.register(try PublisherRegistration.registration(form), context)
            return Self.text(.ok, "OK")
        }
    }

    @Sendable private func registerRails(_ request: Request, _ context: APIContext) async -> Response {
        await self.answer("compat.railsRegister", in: .json, context) {
            guard try self.door(context).opens(with: context.parameters.get("key") ?? "") else { throw Self.closed }
            let form = try await FormRequest.fields(of: request)
            let token = form["token"] ?? form["apns_device[token]"]
            let result = try await self.register(try FormDevice.registration(form, token: token), context)
            return try JSONResponse.make(
                result.kind == .added ? .created : .ok,
                ["apns_device": ["id": result.device]]
            )
        }
    }

    /// For any name that an app could have: who may not send learns nothing of which there are.
    @Sendable private func notifyPage(_ request: Request, _ context: APIContext) async -> Response {
        await self.answer("compat.publisherNotifyPage", in: .text, context) {
            guard let bundleID = Topic(context.decoded("app")) else { throw Self.noSuchApp }
            return NotifyPage.response(app: bundleID.name)
        }
    }

    @Sendable private func notify(_ request: Request, _ context: APIContext) async -> Response {
        await self.answer("compat.publisherNotify", in: .text, context) {
            let wanted = try PublisherNotify(try await FormRequest.fields(of: request))
            try await self.check(wanted)
            UnauthenticatedConnections.prove(context.channel)
            let app = try await self.app(context)
            guard try await self.store.environments(app: app.id).contains(wanted.environment) else {
                let message = "the app has no credential for \(wanted.environment.rawValue)"
                throw RequestError(.conflict, code: "missing_credential", message: message)
            }
            let (notification, acceptance) = try await self.intake.accept(
                wanted.request(to: app.bundleID),
                app: app.id,
                idempotency: wanted.id.map { Idempotency(key: "publisher:\($0)", fingerprint: wanted.fingerprint) }
            )
            switch acceptance {
            case .accepted: return Self.accepted(notification)
            case .repeated(let earlier): return Self.accepted(earlier)
            case .conflict, .scheduleChanged:
                let message = "this id was used for another product or other waves: choose a new one"
                throw RequestError(.conflict, code: "idempotency_conflict", message: message, path: "Id")
            }
        }
    }

    /// The password is an API key with the scope `send`, and the account is its name.
    private func check(_ wanted: PublisherNotify) async throws {
        guard let key = try await self.keys.check(wanted.password),
            key.scopes.contains(.send) || key.scopes.contains(.admin),
            key.name.lowercased() == wanted.account.lowercased()
        else {
            throw RequestError(
                .forbidden,
                code: "forbidden",
                message: "adobeID must be the name, and password the text, of an API key with the scope send",
                path: "password"
            )
        }
        try self.rates.take(key.id)
    }

    /// A client that may not register learns nothing of which apps there are.
    private static let closed = RequestError(.forbidden, code: "forbidden", message: "registration is closed here")

    private func door(_ context: APIContext) throws -> CompatibilityConfiguration.Door {
        guard let bundleID = Topic(context.decoded("app")), let door = self.configuration.doors[bundleID] else {
            throw Self.closed
        }
        return door
    }

    private static let noSuchApp = RequestError(
        .notFound,
        code: "no_such_app",
        message: "there is no app with this bundle id"
    )

    private func app(_ context: APIContext) async throws -> AppRecord {
        guard let bundleID = Topic(context.decoded("app")), let app = try await self.store.app(bundleID: bundleID)
        else {
            throw Self.noSuchApp
        }
        return app
    }

    private func register(_ registration: DeviceRegistration, _ context: APIContext) async throws -> RegistrationResult
    {
        let app = try await self.app(context)
        UnauthenticatedConnections.prove(context.channel)
        try self.rates.take(formOf: app.bundleID)
        let results = try await self.store.register([registration], app: app.id, now: self.time.now)
        guard let result = results.first else { throw Self.closed }
        if case .rejected(let excess) = result.kind { throw RequestError(excess) }
        return result
    }
}

extension CompatibilityRoutes {
    private enum Shape {
        case text
        case json
    }

    /// Turns every failure into an answer that the old clients can show. A key stands in the path, so the path is not
    /// logged.
    /// - Parameter operation: as the figures name it.
    private func answer(
        _ operation: String,
        in shape: Shape,
        _ context: APIContext,
        _ body: () async throws -> Response
    ) async -> Response {
        let start = ContinuousClock.now
        let response = await self.answer(in: shape, context, body)
        self.metrics.count(operation, status: response.status.code, duration: ContinuousClock.now - start)
        return response
    }

    private func answer(
        in shape: Shape,
        _ context: APIContext,
        _ body: () async throws -> Response
    ) async -> Response {
        do {
            return try await body()
        } catch let refusal as RequestError {
            return Self.refusal(refusal, shape)
        } catch {
            if let throttled = Throttled(error) {
                self.metrics.countThrottled(throttled.refusal.code)
                await throttled.hesitate()
                var response = Self.refusal(throttled.refusal, shape)
                response.headers[.retryAfter] = throttled.seconds
                return response
            }
            self.logger.error(
                "form could not be taken",
                metadata: ["app": "\(context.decoded("app").prefix(Topic.maximumLength))", "error": "\(error)"]
            )
            guard case StoreError.cannotWrite = error else {
                let message = "the server could not do this; its log says why"
                return Self.refusal(RequestError(.internalError, code: "internal", message: message), shape)
            }
            self.metrics.countWriteFailure()
            return Self.refusal(.storageUnavailable, shape)
        }
    }

    private static func refusal(_ refusal: RequestError, _ shape: Shape) -> Response {
        guard shape == .text else { return JSONResponse.refusal(refusal) }
        let field = refusal.path.map { "\($0): " } ?? ""
        return Self.text(refusal.kind.status, "\(refusal.code): \(field)\(refusal.message)")
    }

    private static func accepted(_ notification: NotificationRecord) -> Response {
        Self.text(.ok, "OK \(notification.id.uuidString) \(notification.progress.recipients) devices")
    }

    private static func text(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status,
            headers: [
                .contentType: "text/plain; charset=utf-8", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
            ],
            body: .init(byteBuffer: ByteBuffer(string: text + "\n"))
        )
    }
}

extension APIContext {
    /// What stands in the path for `name`, percent-decoded; empty if it cannot be.
    fileprivate func decoded(_ name: String) -> String {
        self.parameters.get(name)?.removingPercentEncoding ?? ""
    }
}
