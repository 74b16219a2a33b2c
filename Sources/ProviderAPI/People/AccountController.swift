import Foundation
import Hummingbird
package import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
package import PushTypes

/// The operations at `/v1/me`, which show the caller of the request and change the caller's password and sessions.
struct AccountController: Controller {
    let store: any PersonStore & SessionStore
    let signIns: SignInService
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let (path, me, maximum) = ("/v1/me", AccountResponse.schema, 16 * 1024)
        let operations: [ProviderOperation] = [
            .init(.get, path, id: "me", "The person or the API key of the request itself.", self.get)
                .responses(.ok(me)),
            .init(.patch, path, .audited, id: "changeMe", "Changes the person's language.", self.change)
                .body(AccountRequest.change.schema, maximum: maximum)
                .responses(.ok(me)).errors(.conflict),
            .init(.put, "\(path)/password", .audited, id: "changeOwnPassword", self.changePassword)
                .summary("Changes the person's password, and ends all sessions of the person.")
                .body(AccountRequest.passwordChange.schema, maximum: maximum)
                .responses(.noContent).errors(.forbidden, .conflict),
            .init(.get, "\(path)/sessions", id: "listOwnSessions", "The caller's sessions.", self.sessions)
                .responses(.ok(.list("sessions", of: SessionResponse.schema))),
            .init(.delete, "\(path)/sessions", .audited, id: "endOwnSessions", self.endSessions)
                .summary("Ends all of the caller's sessions, this one too.").responses(.noContent),
            .init(.delete, "\(path)/sessions/{session}", .audited, id: "endOwnSession", self.endSession)
                .summary("Ends one of the caller's sessions.").responses(.noContent),
        ]
        return operations.map { $0.tag(.people).authenticated().filteredByApp() }
    }

    private func get(_ request: OperationRequest) async throws -> Response {
        let caller = try Self.caller(request)
        let person = caller.isPerson ? try await self.store.person(caller.id) : nil
        return try .json(Self.response(caller, person))
    }

    private func change(_ request: OperationRequest) async throws -> Response {
        let caller = try Self.caller(request)
        let language = try await request.fields(AccountRequest.change).value(PersonRequest.language)
        guard caller.isPerson else { throw RequestError.notAPerson }
        let change = try await self.store.changePerson(caller.id) { person in
            if let language { person.language = language.value }
        }
        guard case .changed(let person) = change else { throw RequestError.noSuch("person") }
        return try .json(Self.response(caller, person))
    }

    private func changePassword(_ request: OperationRequest) async throws -> Response {
        let caller = try Self.caller(request)
        let fields = try await request.fields(AccountRequest.passwordChange)
        let (current, new) = (try fields.required(AccountRequest.current), try fields.required(AccountRequest.password))
        try await self.signIns.changePassword(of: caller, from: current, to: new)
        return .noContent
    }

    private func sessions(_ request: OperationRequest) async throws -> Response {
        let (caller, now) = (try Self.caller(request), self.time.reading)
        let sessions = try await self.store.sessions(of: SessionHolder(caller))
        return try .page("sessions", sessions.map { SessionResponse($0, current: caller.session, now: now) })
    }

    private func endSessions(_ request: OperationRequest) async throws -> Response {
        try await self.store.endSessions(of: SessionHolder(try Self.caller(request)))
        return .noContent
    }

    private func endSession(_ request: OperationRequest) async throws -> Response {
        let holder = SessionHolder(try Self.caller(request))
        guard let id = request.uuid("session"), try await self.store.endSession(id, of: holder) else {
            throw RequestError.noSuch("session")
        }
        return .noContent
    }

    private static func caller(_ request: OperationRequest) throws -> APICaller {
        guard let caller = request.caller else { throw RequestError.internalFailure }
        return caller
    }

    private static func response(_ caller: APICaller, _ person: PersonRecord?) -> AccountResponse {
        AccountResponse(
            id: caller.id.uuidString,
            name: caller.name,
            isPerson: caller.isPerson,
            role: person?.role,
            scopes: caller.scopes,
            apps: caller.apps?.sorted { $0.name < $1.name },
            language: person?.language
        )
    }
}

/// The response object for the caller of the request: a person or an API key.
package struct AccountResponse: ResponseObject {
    let id: String
    package let name: String
    package let isPerson: Bool
    package let role: PersonRole?
    package let scopes: [String]
    package let apps: [Topic]?
    package let language: String?

    package static let schemaName: String? = "Me"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.id, as: .uuid), .required("name", \.name),
        .required("isPerson", \.isPerson, "Whether it is a person; otherwise it is an API key."),
        .optional("role", \.role, "Absent for an API key."), .required("scopes", \.scopes),
        .optional("apps", \.apps, "The apps that the caller is limited to; absent for all."),
        .optional("language", \.language),
    ]
}

/// The response object for a session, with its times by the wall clock.
package struct SessionResponse: ResponseObject {
    package let record: SessionRecord
    package let isCurrent: Bool
    private let createdAt, lastUsedAt, expiresAt: String

    /// Creates the response for the session `record`.
    /// - Parameters:
    ///   - current: The id of the session with which the request was made, or `nil` for a request without one.
    ///   - now: The current time by both clocks, which converts the times of a session from the steady clock to the
    ///     wall clock.
    init(_ record: SessionRecord, current: UUID?, now: ClockReading) {
        (self.record, self.isCurrent) = (record, record.id == current)
        self.createdAt = now.wall(atSteady: record.createdAt).rfc3339
        self.lastUsedAt = now.wall(atSteady: record.lastUsedAt).rfc3339
        self.expiresAt = now.wall(atSteady: record.expiresAt).rfc3339
    }

    package static let schemaName: String? = "Session"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.record.id), .required("current", \.isCurrent, "Whether it is the session of this request."),
        .required("createdAt", \.createdAt, as: .dateTime),
        .required("lastUsedAt", \.lastUsedAt, as: .dateTime, "A minute late at most."),
        .required("expiresAt", \.expiresAt, as: .dateTime, "The end, however much it is used."),
        .required("agent", \.record.agent, "The browser, as it names itself."),
    ]
}
