import Crypto
import Foundation
import Hummingbird
import Logging
import NIOCore
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
package import PushTypes

/// The form endpoints of older systems under `/compat`: a publisher's registration and notify forms, and the
/// registration form of a web application. A form contains its own credentials instead of an API key in a header field.
/// ``CompatibilityConfiguration`` determines which ones are accepted.
struct CompatibilityRoutes: Sendable {
    let configuration: CompatibilityConfiguration
    let store: any AppStore & PublishingStore
    let registrar: DeviceRegistrar
    let acceptor: NotificationAcceptor
    let notifier: IssueNotifier
    /// The runner of operations, whose limits and metrics apply to forms too. A form counts as a request of its API key
    /// or app.
    let runner: OperationRunner
    let time: any TimeSource

    /// Adds the routes of all forms. They are not operations of the API: they need no API key, and the OpenAPI document
    /// does not describe them.
    func addRoutes(to group: RouterGroup<APIContext>) {
        for path: RouterPath in ["compat/publisher/:app/register", "compat/publisher/:app/:key/register"] {
            group.get(path, use: self.registerPublisher).post(path, use: self.registerPublisher)
        }
        let notify: RouterPath = "compat/publisher/:app/notify"
        group.get(notify, use: self.notifyPage)
        group.post(notify, use: self.notify)
        group.post("compat/rails/:app/:key/admin/apns_devices.json", use: self.registerRails)
    }

    /// Registers the device in the publisher's registration form, if the key in the path or the account is allowed.
    @Sendable private func registerPublisher(_ request: Request, _ context: APIContext) async -> Response {
        await self.respond("compat.publisherRegister", in: .text, context) {
            let access = try self.access(context)
            let form = try await FormRequest.fields(of: request)
            let isAllowed =
                context.parameters.get("key").map { access.allows(key: $0) }
                ?? access.allows(account: form["accountId"])
            guard isAllowed else { throw Self.closed }
            _ = try await self.register(try PublisherRegistration.registration(form), context)
            return Self.text(.ok, "OK")
        }
    }

    /// Accepts the web application's registration form, if the key in the path is allowed, and registers the device.
    @Sendable private func registerRails(_ request: Request, _ context: APIContext) async -> Response {
        await self.respond("compat.railsRegister", in: .json, context) {
            guard try self.access(context).allows(key: context.parameters.get("key") ?? "") else { throw Self.closed }
            let form = try await FormRequest.fields(of: request)
            let token = form["token"] ?? form["apns_device[token]"]
            let result = try await self.register(try FormDevice.registration(form, token: token), context)
            return try .json(["apns_device": ["id": result.device]], status: result.kind == .added ? .created : .ok)
        }
    }

    /// Responds with the page of the notify form. There is one for every valid bundle id, so that pages do not reveal
    /// which apps exist.
    @Sendable private func notifyPage(_ request: Request, _ context: APIContext) async -> Response {
        await self.respond("compat.publisherNotifyPage", in: .text, context) {
            guard let bundleID = context.bundleID else { throw Self.noSuchApp }
            return NotifyFormPage.response(app: bundleID.name)
        }
    }

    /// Accepts the publisher's notify form, and sends a background push to all devices that support Newsstand.
    @Sendable private func notify(_ request: Request, _ context: APIContext) async -> Response {
        await self.respond("compat.publisherNotify", in: .text, context) {
            let form = try PublisherNotify(try await FormRequest.fields(of: request))
            let caller = try await self.authenticate(form, context)
            try self.runner.connections.assign(context.channel, to: caller.account)
            guard let app = try await context.app(self.store) else { throw Self.noSuchApp }
            if let issue = try await self.store.issue(app: app.id, productID: form.productID) {
                return Self.accepted(try await self.notify(of: issue, app, form, caller))
            }
            guard try await self.store.environments(app: app.id).contains(form.environment) else {
                throw RequestError.missingCredential(form.environment.rawValue)
            }
            let (notification, acceptance) = try await self.acceptor.accept(
                form.request(to: app.bundleID),
                app: app.id,
                key: caller.reference,
                idempotency: form.idempotency
            )
            switch acceptance {
            case .accepted: return Self.accepted(notification)
            case .repeated(let earlier): return Self.accepted(earlier)
            case .conflict, .scheduleChanged, .originalForgotten, .tokenOfOtherKind, .inactiveToken, .issueWithdrawn,
                .sessionRemoved:
                let message = "this id was used for another product or other waves: choose a new one"
                throw RequestError.conflict("idempotency_conflict", message, at: "Id")
            }
        }
    }

    /// Notifies the devices of a published issue, as the operation *Notify* does, and returns the notification.
    private func notify(
        of issue: IssueRecord,
        _ app: AppRecord,
        _ form: PublisherNotify,
        _ caller: APICaller
    ) async throws -> NotificationRecord {
        let outcome = try await self.notifier.notify(
            issue,
            app: app,
            key: caller.reference,
            again: form.again,
            repetition: form.idempotency,
            messageID: form.messageID,
            changes: form.changes
        )
        switch outcome {
        case .accepted(let notification), .repeated(let notification): return notification
        }
    }

    /// Checks that the form's password is an API key with the scope `send` for the app in the path, and that the
    /// account in the form is the name of the key.
    /// - Returns: The caller with the API key.
    /// - Throws: ``RequestError`` with status 403 if the password or the account is wrong.
    private func authenticate(_ form: PublisherNotify, _ context: APIContext) async throws -> APICaller {
        guard let key = try await self.runner.key(form.password, from: context.channel),
            case let caller = APICaller(key),
            caller.allows(.send),
            key.apps == nil || context.bundleID.map(caller.mayUse) == true,
            key.name.lowercased() == form.account.lowercased()
        else {
            let message = "adobeID must be the name, and password the text, of an API key with the scope send"
            throw RequestError(.forbidden, code: "forbidden", message: message, path: "password")
        }
        try self.runner.budgets.countRequest(of: caller)
        return caller
    }

    /// The error for a client without access, which does not reveal whether the app exists.
    private static let closed = RequestError(.forbidden, code: "forbidden", message: "registration is closed here")

    /// Returns the credentials with which forms for the app in the path are accepted.
    /// - Throws: ``RequestError`` if the app has no such credentials or does not exist.
    private func access(_ context: APIContext) throws -> CompatibilityConfiguration.FormAccess {
        guard let access = context.bundleID.flatMap({ self.configuration.apps[$0] }) else { throw Self.closed }
        return access
    }

    private static let noSuchApp = RequestError(.notFound, code: "no_such_app", message: "no app has this bundle id")

    private func register(_ registration: DeviceRegistration, _ context: APIContext) async throws -> RegistrationResult
    {
        guard let app = try await context.app(self.store) else { throw Self.noSuchApp }
        let client = BudgetCaller(app: app.bundleID, from: context.channel) ?? BudgetCaller(app: app.bundleID)
        try self.runner.budgets.countForm(of: client)
        try self.runner.connections.assign(context.channel, to: client)
        let registered = try await self.registrar.register([registration], app: app.id, at: self.time.reading)
        guard let result = registered.results.first else { throw Self.closed }
        if case .rejected(let excess) = result.kind { throw RequestError(excess) }
        return result
    }
}

extension CompatibilityRoutes {
    private enum ErrorFormat {
        case text, json
    }

    /// Runs the handler `body` of a form, counts its response, and converts errors into responses in `format`, which
    /// old clients can display.
    ///
    /// Logs name the app instead of the path, because the path contains a key.
    /// - Parameter operation: The name of the form at `/metrics`.
    private func respond(
        _ operation: String,
        in format: ErrorFormat,
        _ context: APIContext,
        _ body: () async throws -> Response
    ) async -> Response {
        let app = String(context.path("app").prefix(Topic.maximumLength))
        return await self.runner.respond(
            operation,
            at: ["app": .string(app)],
            failure: { Self.response($0, format) },
            body
        )
    }

    private static func response(_ error: RequestError, _ format: ErrorFormat) -> Response {
        guard format == .text else { return .error(error) }
        let field = error.path.map { "\($0): " } ?? ""
        return Self.text(error.kind.status, "\(error.code): \(field)\(error.message)")
    }

    /// Returns the response to an accepted notify form: a line with the notification's id and the number of devices.
    private static func accepted(_ notification: NotificationRecord) -> Response {
        Self.text(.ok, "OK \(notification.id.uuidString) \(notification.progress.recipients) devices")
    }

    private static func text(_ status: HTTPResponse.Status, _ text: String) -> Response {
        let headers: HTTPFields = [.cacheControl: "no-store", .xContentTypeOptions: "nosniff"]
        return .content(ByteBuffer(string: text + "\n"), "text/plain; charset=utf-8", status, headers)
    }
}

/// The apps that accept the registration forms of older systems. Installed apps have no API key, so the forms for apps
/// that are not listed are rejected.
package struct CompatibilityConfiguration: Hashable, Sendable {
    package var apps: [Topic: FormAccess] = [:]

    package init() {}

    /// The credentials with which the registration forms of one app are accepted: a key, the ids of accounts, or both.
    package struct FormAccess: Hashable, Sendable {
        /// The key that grants access if it is in the path of a form, or `nil` if only ``accounts`` grant access.
        package let key: String?
        /// The values of the field `accountId`, in lower case, with which the publisher's form is accepted without a
        /// key. The set is empty if only ``key`` grants access.
        package let accounts: Set<String>

        /// The minimum length of a key, in bytes. A shorter one is rejected.
        package static let minimumKey = 16

        /// Creates the credentials. Returns `nil` if both are missing, for an empty account, and for a key that has
        /// fewer than ``minimumKey`` bytes, or characters other than letters, digits, hyphens and underscores.
        package init?(key: String?, accounts: Set<String> = []) {
            guard key != nil || !accounts.isEmpty, !accounts.contains("") else { return nil }
            if let key, key.utf8.count < Self.minimumKey { return nil }
            if let key, !key.utf8.allSatisfy({ $0.isAlphanumeric || "-_".utf8.contains($0) }) { return nil }
            self.key = key
            self.accounts = Set(accounts.map { $0.lowercased() })
        }

        /// Returns whether `key` equals the configured one. The result is `false` if none is configured. Hashes are
        /// compared, so that the time of the comparison does not depend on the key.
        func allows(key: String) -> Bool {
            guard let own = self.key else { return false }
            return SHA256.hash(data: Data(key.utf8)) == SHA256.hash(data: Data(own.utf8))
        }

        /// Returns whether `account` is one of ``accounts``, regardless of case. The result is `false` for `nil`.
        func allows(account: String?) -> Bool { account.map { self.accounts.contains($0.lowercased()) } ?? false }
    }
}
