import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The routes of gorush's REST API: below `/gorush/{bridge}` with or without the bridge's secret, and at the root for
/// paths that the provider does not use itself.
struct GorushRoutes: Sendable {
    let access: BridgeAuthenticator
    let sender: GorushSender
    let statistics: GorushStatistics
    let follower: GorushFollower
    let shadow: ShadowForwarder

    private var store: any AppStore { self.sender.submission.parts.store }

    func addRoutes(to router: Router<APIContext>) {
        for prefix in ["", "gorush/:bridge/", "gorush/:bridge/:secret/"] {
            router.post(RouterPath("\(prefix)api/push"), use: self.push)
            router.get(RouterPath("\(prefix)api/stat/app")) { await self.report($0, $1) { try .json($0.app) } }
            router.get(RouterPath("\(prefix)api/stat/go")) {
                await self.report($0, $1) { _ in try .json(GorushReport.process) }
            }
            router.get(RouterPath("\(prefix)sys/stats")) { await self.report($0, $1) { try .json($0.system) } }
            router.get(RouterPath("\(prefix)version"), use: self.showVersion)
            router.get(RouterPath("\(prefix)healthz"), use: self.showHealth)
            router.head(RouterPath("\(prefix)healthz"), use: self.showHealth)
            // At the root, this path has the provider's own metrics.
            guard !prefix.isEmpty else { continue }
            router.get(RouterPath("\(prefix)metrics")) {
                await self.report($0, $1) { .content(ByteBuffer(string: $0.metrics), PrometheusText.contentType) }
            }
        }
        router.get("gorush/:bridge", use: self.showWelcome)
    }

    // MARK: Pushes

    @Sendable private func push(_ request: Request, _ context: APIContext) async -> Response {
        let start = ContinuousClock.now
        var reached: String?
        let response = await self.respond("gorush.push", context) {
            let receivedAt = self.sender.submission.parts.time.now
            let destination = try await self.destination(request, context)
            reached = destination.bridge.name
            let maximum = GorushRequest.maximumBody
            return try await self.access.withBody(of: request, maximum: maximum, destination.admission) { body in
                let parsed = Result { () throws(GorushError) in
                    try GorushRequest(body, maximum: destination.settings.maximumNotifications)
                }
                if let shadow = destination.settings.shadow {
                    return try await self.shadow(shadow, request, body, parsed, destination, at: receivedAt)
                }
                switch parsed {
                case .failure(let error): return Self.refusal(error)
                case .success(let wanted):
                    return try await self.send(wanted, destination, context, receivedAt: receivedAt)
                }
            }
        }
        guard let reached else { return response }
        self.statistics.count(reached) { counters in
            counters.statuses[response.status.code, default: 0] += 1
            counters.responseTime += start.duration(to: .now)
        }
        return response
    }

    private func send(
        _ request: GorushRequest,
        _ destination: GorushSender.Destination,
        _ context: APIContext,
        receivedAt: Timestamp
    ) async throws -> Response {
        let plans = try await self.sender.plans(request, destination)
        let sent = try await self.sender.send(plans, destination, receivedAt: receivedAt)
        let (name, hook) = (destination.bridge.name, destination.settings.feedbackHook)
        let tokens = sent.accepted.reduce(sent.failures.count) { $0 + $1.push.tokens.count }
        self.statistics.count(name) { $0.submitted += tokens }
        self.follower.report(sent.failures, bridge: name, hook: hook, of: destination.app)
        for (push, plan) in sent.accepted {
            self.follower.follow(.init(push: push, bridge: name, hook: hook, plan: plan), of: destination.app.bundleID)
        }
        var failures = sent.failures
        if destination.settings.isSynchronous {
            failures += try await self.sender.failures(of: sent, on: context.channel)
        }
        return try Self.answer(count: request.count, failures)
    }

    /// Responds in shadow mode with the old server's response, or with the bridge's own response if no old server is
    /// configured. No push is sent.
    private func shadow(
        _ settings: ShadowSettings,
        _ request: Request,
        _ body: Data,
        _ parsed: Result<GorushRequest, GorushError>,
        _ destination: GorushSender.Destination,
        at: Timestamp
    ) async throws -> Response {
        // A request that this bridge cannot parse may have any number of tokens for the old server.
        let entries = (try? parsed.get())?.longestEntries ?? ShadowForwarder.maximumAnswer
        let answer: ShadowForwarder.Answer?
        do {
            answer = try await self.shadow.ask(
                settings,
                target: "/api/push",
                request,
                body: body,
                app: destination.app,
                bridge: destination.bridge,
                destination.admission,
                longest: ShadowForwarder.longestAnswer(withEntriesOf: entries),
                at: at
            )
        } catch let failure as PinnedClientFailure {
            // The old server sends the pushes instead of the provider, so a client that repeats the request loses
            // nothing.
            let message = "the server in whose shadow this bridge is does not answer: \(failure.text)"
            return try Self.failure(.badGateway, message)
        }
        let theirs = answer.map { GorushResponse(status: $0.status, body: $0.body) }
        let ours: Response
        switch parsed {
        case .failure(let error):
            await self.shadow.keep(ShadowComparison(refused: error, theirs, at: at), of: destination.bridge)
            ours = Self.refusal(error)
        case .success(let wanted):
            let plans = try await self.sender.plans(wanted, destination)
            await self.shadow.keep(ShadowComparison(wanted, plans, theirs, at: at), of: destination.bridge)
            ours = try Self.answer(count: wanted.count, plans.flatMap(\.failures))
        }
        return answer.map(ShadowForwarder.response) ?? ours
    }

    // MARK: Reports

    @Sendable private func showVersion(_ request: Request, _ context: APIContext) async -> Response {
        await self.respond("gorush.version", context) {
            try await self.checkIsOpen()
            return try .json(["source": JSONValue.string("martlet"), "version": .string(MartletVersion.number)])
        }
    }

    @Sendable private func showHealth(_ request: Request, _ context: APIContext) async -> Response {
        await self.respond("gorush.health", context) {
            try await self.checkIsOpen()
            return Response(status: .ok)
        }
    }

    @Sendable private func showWelcome(_ request: Request, _ context: APIContext) async -> Response {
        await self.respond("gorush.health", context) {
            try await self.checkIsOpen()
            return try .json(["text": "Welcome to notification server."])
        }
    }

    private func report(
        _ request: Request,
        _ context: APIContext,
        _ body: (GorushReport) throws -> Response
    ) async -> Response {
        await self.respond("gorush.stat", context) {
            let destination = try await self.destination(request, context)
            let uptime = self.statistics.start.duration(to: .now)
            return try body(GorushReport(counters: self.statistics[destination.bridge.name], uptime: uptime))
        }
    }

    // MARK: Admission

    private static let noDoor = RequestError(.notFound, code: "not_found", message: "no bridge of gorush has this name")

    /// Throws an error with the status 404 if no gorush bridge exists.
    private func checkIsOpen() async throws {
        guard try await !self.sender.table.value.isEmpty else { throw Self.noDoor }
    }

    /// Authenticates a request, and returns the bridge that its path names, or the one that ``bridge(_:for:)`` selects.
    private func destination(_ request: Request, _ context: APIContext) async throws -> GorushSender.Destination {
        try await self.checkIsOpen()
        let name = context.parameters.get("bridge") == nil ? nil : context.path("bridge")
        if context.parameters.get("secret") != nil {
            let bridge = try await self.sender.table[name ?? ""]
            let app = try await self.app(of: bridge)
            try self.access.checkSecret(context.path("secret"), of: bridge, app: app?.bundleID, context)
            guard let bridge, let app else { throw Self.noDoor }
            return try .init(
                bridge: bridge,
                app: app,
                settings: GorushSettings(bridge),
                admission: .secret(app.bundleID)
            )
        }
        let caller = try await self.access.key(of: request, context)
        let admission = BridgeAuthenticator.Admission.key(caller)
        guard let bridge = try await self.bridge(name, for: caller), let app = try await self.app(of: bridge) else {
            throw Self.noDoor
        }
        guard admission.allows(.send, on: app.bundleID) else {
            let message = "the API key lacks the scope send for the app of this bridge"
            throw RequestError(.forbidden, code: "missing_scope", message: message, path: "authorization")
        }
        return try .init(bridge: bridge, app: app, settings: GorushSettings(bridge), admission: admission)
    }

    /// Returns the bridge with a name, or the bridge at the root if `name` is `nil`. Returns `nil` if there is no such
    /// bridge. The bridge at the root belongs to the app that has had a gorush bridge for the longest time, among those
    /// of the API key. It is the app's bridge named ``GorushSettings/standardName``, or else its first one, so that
    /// bridges that other apps add later change nothing.
    private func bridge(_ name: String?, for caller: APICaller) async throws -> BridgeRecord? {
        let bridges = try await self.sender.table.value
        if let name { return bridges[name] }
        let apps = try await self.apps(of: caller)
        let usable = bridges.values.lazy.filter { apps?.contains($0.app) ?? true }
        guard let first = usable.min(by: { $0.number < $1.number }) else { return nil }
        if let standard = bridges[GorushSettings.standardName], standard.app == first.app { return standard }
        return first
    }

    /// Returns the ids of the apps that an API key may use, or `nil` for a key that may use all apps.
    private func apps(of caller: APICaller) async throws -> Set<Int64>? {
        guard let topics = caller.apps else { return nil }
        var apps: Set<Int64> = []
        for topic in topics {
            if let app = try await self.store.app(bundleID: topic) { apps.insert(app.id) }
        }
        return apps
    }

    private func app(of bridge: BridgeRecord?) async throws -> AppRecord? {
        guard let bridge else { return nil }
        return try await self.store.app(id: bridge.app)
    }

    // MARK: Responses

    private static let version = HTTPField.Name("x-gorush-version")

    /// Runs `body`, converts its errors into gorush's format, and adds the header field with gorush's version.
    private func respond(
        _ operation: String,
        _ context: APIContext,
        _ body: () async throws -> Response
    ) async -> Response {
        let bridge = context.parameters.get("bridge").map { String($0) } ?? GorushSettings.standardName
        var response = await self.access.respond(
            operation,
            bridge: bridge,
            failure: { error in
                (try? Self.failure(error.kind.status, error.message)) ?? Response(status: error.kind.status)
            },
            body
        )
        if let name = Self.version, response.headers[name] == nil { response.headers[name] = MartletVersion.number }
        return response
    }

    private static func refusal(_ error: GorushError) -> Response {
        (try? Self.failure(.badRequest, error.message)) ?? Response(status: .badRequest)
    }

    private static func failure(_ status: HTTPResponse.Status, _ message: String) throws -> Response {
        let body: [String: JSONValue] = ["code": .integer(Int64(status.code)), "message": .string(message)]
        return try .json(body, status: status)
    }

    private static func answer(count: Int, _ failures: [GorushLogEntry]) throws -> Response {
        let body: [String: JSONValue] = [
            "success": .string("ok"), "counts": .integer(Int64(count)), "logs": GorushLogEntry.json(failures),
        ]
        return try .json(body)
    }
}
