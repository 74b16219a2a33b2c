import HTTPTypes
import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The operations below `/v1/apps/{app}/sessions`, with which back ends manage chat sessions, and the operations below
/// an installation, with which users manage their own sessions.
struct ChatSessionsController: Controller {
    /// The maximum numbers of sessions of one user and of one app. A further session is rejected.
    private static let (maximumPerUser, maximumPerApp) = (10, 10_000)
    private static let maximumBody = 16 * 1024

    private static let chatProtocol = Member.choice("protocol", of: ChatProtocol.self)
    private static let account = Member.text("account", 1...512)
    private static let password = Member.text("password", 1...1024)
    private static let user = Member.text("user", 1...Member.maximumText)
    private static let server = Member.text("server", 1...253)
        .described("Default with XMPP: the domain of the account.")
    private static let port = Member.integer("port", 1...65_535)
        .described("Default 6697 with IRC, 5222 with XMPP.")
    private static let settings = Member.openObject("settings")
        .described("Those of the protocol, and showText, channelMessages.")

    /// The request body with which a user adds a session. ``addition``, the one of back ends, also names the user.
    private static let ownAddition = Self.makeAddition([Self.chatProtocol, Self.account, Self.password])
    private static let addition = Self.makeAddition([Self.chatProtocol, Self.account, Self.password, Self.user])
    private static let resumeRequest = RequestObject(optional: [Self.password.described("Default: the present one.")])

    private static func makeAddition(_ required: [any RequestMemberProtocol]) -> RequestObject {
        RequestObject(required: required, optional: [Self.server, Self.port, Self.settings]) {
            $0.example(
                .texts(["protocol": "irc", "server": "irc.example.org", "account": "ada", "password": "a password"])
            )
        }
    }

    private static let proofField = HTTPField.Name("user-proof")

    let store: any AppStore & ChatSessionStore & UserSecretStore
    let service: ChatSessionService
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let all = "/v1/apps/{app}/sessions"
        let own = "/v1/apps/{app}/installations/{installation}/sessions"
        let user = ParameterDescription.query("user", "Of this user only.", .string(length: 1...256))
        let list = ResponseDescription.ok(.page("sessions", of: ChatSessionResponse.schema))
        let forBackEnds: [ProviderOperation] =
            [
                .init(.get, all, id: "listChatSessions", "Sessions at chat servers, without passwords.", self.list)
                    .parameters(user, .cursor, .limit()).responses(list).reservingPage(ofEntries: 384),
                .init(.post, all, .audited, id: "addChatSession", "Signs in at a chat server for a user.", self.add)
                    .body(Self.addition.schema, maximum: Self.maximumBody)
                    .responses(.created(ChatSessionResponse.schema)).errors(.conflict),
            ] + self.single("\(all)/{chatSession}", suffix: "ChatSession", .audited)
        let proof = ParameterDescription.header("user-proof", "A JWT that claims the user.", .string(length: 1...4096))
        let forUsers: [ProviderOperation] =
            [
                .init(.get, own, id: "listOwnChatSessions", "The user's sessions at chat servers.", self.list)
                    .parameters(.cursor, .limit()).responses(list),
                .init(.post, own, .unaudited, id: "addOwnChatSession", self.add)
                    .summary("Signs in at a chat server for the user, who allows it with this request.")
                    .body(Self.ownAddition.schema, maximum: Self.maximumBody)
                    .responses(.created(ChatSessionResponse.schema)).errors(.conflict),
            ] + self.single("\(own)/{chatSession}", suffix: "OwnChatSession", .unaudited)
        return forBackEnds.map { $0.tag(.bridges).scope(.operate) }
            + forUsers.map { $0.tag(.bridges).scope(.registerSelf).parameters(proof) }
    }

    private func single(_ one: String, suffix: String, _ effect: OperationEffect) -> [ProviderOperation] {
        [
            .init(.get, one, id: "show\(suffix)", "One session, without its password.", self.show)
                .responses(.ok(ChatSessionResponse.schema)),
            .init(.post, "\(one):stop", effect, id: "stop\(suffix)", "Signs out, and stays so.", self.stop)
                .responses(.ok(ChatSessionResponse.schema)),
            .init(.post, "\(one):resume", effect, id: "resume\(suffix)", self.resume)
                .summary("Signs in again after a stop or a failure, with a new password if one is given.")
                .body(Self.resumeRequest.schema, maximum: Self.maximumBody, isRequired: false)
                .responses(.ok(ChatSessionResponse.schema)),
            .init(.delete, one, effect, id: "delete\(suffix)", "Signs out, and forgets the password.", self.delete)
                .responses(.noContent),
        ]
    }

    var pathParameters: [String: OpenAPIDocument<APIScope>.PathParameter] {
        ["chatSession": ("The id of the session at a chat server.", .uuid)]
    }
    var pathParameterSources: [OpenAPIDocument<APIScope>.Source] {
        [
            ("chatSession", "addOwnChatSession", "$response.body#/id"),
            ("chatSession", "addChatSession", "$response.body#/id"),
            ("chatSession", "listChatSessions", "$response.body#/sessions/0/id"),
        ]
    }

    // MARK: Handlers

    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let user = try await self.user(of: request, app) ?? request.text("user")
        let page = try request.page(.chatSessions)
        let sessions = try await self.store.chatSessions(
            app: app.id,
            user: user,
            after: page.after ?? 0,
            limit: page.limit + 1
        )
        let shown = sessions.prefix(page.limit)
        let next =
            sessions.count > page.limit ? shown.last.map { Cursor(list: .chatSessions, position: $0.number) } : nil
        return try .page("sessions", shown.map(self.response), next: next?.text)
    }

    private func add(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let own = try await self.user(of: request, app)
        let fields = try await request.fields(own == nil ? Self.addition : Self.ownAddition)
        let session = try self.session(fields, app: app.id, user: own)
        let addition = try await self.store.addChatSession(
            session,
            perUser: Self.maximumPerUser,
            perApp: Self.maximumPerApp
        )
        guard case .added(let stored) = addition else {
            let most =
                addition == .tooManyOfUser
                ? "user has at most \(Self.maximumPerUser)" : "app has at most \(Self.maximumPerApp)"
            throw RequestError.conflict("too_many_sessions", "the \(most) sessions: remove some first")
        }
        request.made(stored.id)
        self.service.refresh()
        return try .json(self.response(stored), status: .created)
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        return try .json(self.response(try await self.session(request, app)))
    }

    private func stop(_ request: OperationRequest) async throws -> Response {
        try await self.change(request, to: .stopped, password: nil)
    }

    private func resume(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(Self.resumeRequest)
        return try await self.change(request, to: .active, password: try fields.value(Self.password))
    }

    private func delete(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let session = try await self.session(request, app)
        guard try await self.store.removeChatSession(session.id, app: app.id) else { throw Self.noSession }
        self.service.refresh()
        return .noContent
    }

    private func change(
        _ request: OperationRequest,
        to state: ChatSessionRecord.State,
        password: String?
    ) async throws -> Response {
        let app = try await request.app(self.store)
        var session = try await self.session(request, app)
        if let password {
            session.password = password
            try Self.check(session)
        }
        let changed = try await self.store.setChatSessionState(
            state,
            of: session.id,
            app: app.id,
            password: password,
            now: self.time.now
        )
        guard let changed else { throw Self.noSession }
        self.service.refresh()
        // The session that is still running has the settings from before the change.
        return try .json(ChatSessionResponse(session: changed, running: nil))
    }

    // MARK: Parts of a request

    /// Returns the user whom the user proof of an installation's request names, or `nil` for a back end.
    /// - Throws: ``RequestError`` for a request of an installation without a valid user proof.
    private func user(of request: OperationRequest, _ app: AppRecord) async throws -> String? {
        guard !request.path("installation").isEmpty else { return nil }
        let installation = try request.installation()
        let text = Self.proofField.flatMap { request.http.headers[$0] } ?? ""
        let secrets = try await self.store.userSecrets(app: app.id)
        return try UserProof(text, secrets: secrets, installation: installation, now: self.time.now).user
    }

    /// Returns the session that the path names. Throws ``RequestError`` if there is none, or it is not the user's own.
    private func session(_ request: OperationRequest, _ app: AppRecord) async throws -> ChatSessionRecord {
        let user = try await self.user(of: request, app)
        guard let id = request.uuid("chatSession"), let session = try await self.store.chatSession(id),
            session.app == app.id, user == nil || session.user == user
        else { throw Self.noSession }
        return session
    }

    private static var noSession: RequestError { .noSuch("session", at: "chatSession") }

    /// Reads a new session from a request body.
    /// - Parameter user: The user that sends the request, or `nil` if the body names the user.
    private func session(_ fields: JSONFields, app: Int64, user: String?) throws(RequestError) -> ChatSessionRecord {
        let chatProtocol = try fields.required(Self.chatProtocol)
        let account = try fields.required(Self.account)
        let given = try fields.value(Self.server)
        guard let host = given ?? chatProtocol.session.host(of: account) else {
            throw fields.error("server", "missing_field", "name the server")
        }
        let port = Int(try fields.value(Self.port) ?? Int64(chatProtocol.session.port))
        let server = try ChatServerAddress(host: host, port: port, policy: self.service.addresses)
        let owner: String
        if let user {
            owner = user
        } else {
            owner = try fields.required(Self.user)
        }
        let settings = JSONValue.object(try fields.value(Self.settings) ?? [:])
        let session = ChatSessionRecord(
            app: app,
            user: owner,
            chatProtocol: chatProtocol,
            host: server.host,
            port: server.port,
            account: account,
            password: try fields.required(Self.password),
            settings: settings,
            createdAt: self.time.now
        )
        try Self.check(session)
        return session
    }

    /// Checks the account and the settings by the rules of the session's protocol. Throws ``RequestError`` for invalid
    /// ones.
    private static func check(_ session: ChatSessionRecord) throws(RequestError) {
        _ = try ChatPushSettings(session.settings)
        _ = try session.chatProtocol.session.init(
            ChatLogin(session),
            memory: ChatMemory(seenThrough: session.createdAt)
        )
    }

    private func response(_ session: ChatSessionRecord) -> ChatSessionResponse {
        ChatSessionResponse(session: session, running: self.service.condition(of: session.id))
    }
}

extension Cursor.List {
    static let chatSessions = Cursor.List("c")
}

/// The JSON of a chat session in an API response, without its password.
struct ChatSessionResponse: ResponseObject {
    let session: ChatSessionRecord
    /// The condition of the running session, or `nil` if the session does not run.
    let running: ChatSessionCondition?

    private var status: ChatSessionStatus {
        switch self.session.state {
        // A session that was just added is not running yet.
        case .active: self.running?.status ?? .waiting
        case .stopped: .stopped
        case .failed: .failed
        }
    }

    /// The last failure, or `nil` if there is none. For a running session, it may be some seconds newer than the one in
    /// the session's record.
    private var lastError: String? {
        guard self.session.state == .active, let running else { return self.session.lastError }
        return running.lastError
    }

    static let schemaName: String? = "ChatSession"
    static let members: [ResponseMember<Self>] = [
        .required("id", \.session.id), .required("user", \.session.user),
        .required("protocol", \.session.chatProtocol), .required("server", \.session.host),
        .required("port", \.session.port), .required("account", \.session.account),
        .required("settings", \.session.settings),
        .required("status", \.status, "attached: signed in, and nothing is pushed as the user is at another client."),
        .optional("lastError", \.lastError, "The last failure, until it is signed in again."),
        .required("createdAtMs", \.session.createdAt), .required("changedAtMs", \.session.changedAt),
    ]
}

extension ChatProtocol: JSONRepresentable {}
extension ChatSessionStatus: JSONRepresentable {}
