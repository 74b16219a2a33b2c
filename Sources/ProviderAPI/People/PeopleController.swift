import Hummingbird
package import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
package import PushTypes

/// The operations at `/v1/people`, which manage the people who can sign in.
struct PeopleController: Controller {
    let store: any PersonStore & SessionStore
    let people: PeopleService
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let (all, one, maximum) = ("/v1/people", "/v1/people/{person}", 16 * 1024)
        let person = PersonResponse.schema
        let operations: [ProviderOperation] = [
            .init(.get, all, id: "listPeople", "The people who can sign in.", self.list)
                .parameters(.cursor, .limit()).responses(.ok(.page("people", of: person))),
            .init(.post, all, .audited, id: "addPerson", self.add)
                .summary("Adds a person, who chooses a password with the link in this response, within a day.")
                .body(PersonRequest.addition.schema, maximum: maximum).responses(.created(person)).errors(.conflict),
            .init(.get, one, id: "getPerson", "One person.", self.get).responses(.ok(person)),
            .init(.patch, one, .audited, id: "changePerson", self.change)
                .summary("Changes a person; another role, other apps and disabled end all sessions.")
                .body(PersonRequest.change.schema, maximum: maximum)
                .responses(.ok(person)).errors(.conflict),
            .init(.delete, one, .audited, id: "deletePerson", "Removes a person with all sessions.", self.delete)
                .responses(.noContent).errors(.conflict),
            .init(.post, "\(one):invite", .audited, id: "invitePerson", self.invite)
                .summary("Makes another link with which the person chooses a password; the earlier one ends.")
                .responses(.ok(person)).errors(.conflict),
            .init(.get, "\(one)/sessions", id: "listPersonSessions", "The person's sessions.", self.sessions)
                .responses(.ok(.list("sessions", of: SessionResponse.schema))),
            .init(.delete, "\(one)/sessions", .audited, id: "endPersonSessions", self.endSessions)
                .summary("Ends all sessions of a person.").responses(.noContent),
        ]
        return operations.map { $0.tag(.people).scope(.admin) }
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let page = try request.page(.people)
        let people = try await self.store.people(after: page.after, limit: page.limit)
        let next = page.next(after: people, \.number)
        return try .page("people", people.map { PersonResponse(record: $0) }, next: next)
    }

    /// Adds a person, who has no password until the link in the response is redeemed.
    private func add(_ request: OperationRequest) async throws -> Response {
        let settings = try PersonRequest(try await request.fields(PersonRequest.addition))
        guard let name = settings.name else { throw settings.fields.error("name", "missing_field", "name the person") }
        guard let role = settings.role else {
            throw settings.fields.error("role", "missing_field", "name the role of the person")
        }
        var person = PersonRecord(name: name, role: role, createdAt: self.time.now)
        settings.apply(to: &person)
        let added = try await settings.fields.checkingApps { [person] in try await self.people.add(person) }
        guard let (person, link) = added else { throw Self.nameTaken }
        request.made(person.id)
        return try .json(PersonResponse(record: person, link: link), status: .created)
    }

    private func get(_ request: OperationRequest) async throws -> Response {
        try .json(PersonResponse(record: try await request.object("person") { try await self.store.person($0) }))
    }

    private func change(_ request: OperationRequest) async throws -> Response {
        let settings = try PersonRequest(try await request.fields(PersonRequest.change))
        return try await request.object("person") { id in
            let change = try await settings.fields.checkingApps {
                try await self.store.changePerson(id) { settings.apply(to: &$0) }
            }
            switch change {
            case .changed(let person): return try .json(PersonResponse(record: person))
            case .missing: return nil
            case .nameTaken: throw Self.nameTaken
            case .lastAdmin: throw Self.lastAdmin
            }
        }
    }

    /// Removes a person, except the last one who can sign in and administer everything, for whom it responds with 409.
    private func delete(_ request: OperationRequest) async throws -> Response {
        guard let id = request.uuid("person") else { throw RequestError.noSuch("person") }
        switch try await self.store.deletePerson(id) {
        case .deleted: return .noContent
        case .missing: throw RequestError.noSuch("person")
        case .lastAdmin: throw Self.lastAdmin
        }
    }

    private func invite(_ request: OperationRequest) async throws -> Response {
        let person = try await request.object("person") { try await self.store.person($0) }
        guard let link = try await self.people.makeLink(for: person.id) else {
            throw RequestError.conflict("disabled", "a disabled person cannot sign in: enable the person first")
        }
        return try .json(PersonResponse(record: person, link: link))
    }

    private func sessions(_ request: OperationRequest) async throws -> Response {
        let person = try await request.object("person") { try await self.store.person($0) }
        let (now, current) = (self.time.reading, request.caller?.session)
        let sessions = try await self.store.sessions(of: .person(person.id))
        return try .page("sessions", sessions.map { SessionResponse($0, current: current, now: now) })
    }

    private func endSessions(_ request: OperationRequest) async throws -> Response {
        let person = try await request.object("person") { try await self.store.person($0) }
        try await self.store.endSessions(of: .person(person.id))
        return .noContent
    }

    private static let nameTaken = RequestError.conflict("name_taken", "another person has this name", at: "name")

    private static let lastAdmin = RequestError.conflict(
        "last_admin",
        """
        nobody else could sign in and administer everything: give another person the role admin, for all apps and with \
        a password, first
        """,
        at: "person"
    )
}

extension PersonRole: JSONRepresentable {}

/// The response object for a person, which never contains the password.
package struct PersonResponse: ResponseObject {
    package let record: PersonRecord
    /// The link with which the person chooses a password. It is `nil` except in the response to the request that
    /// creates the link.
    var link: PeopleService.NewLink?

    package var apps: [Topic]? { self.record.apps?.sorted { $0.name < $1.name } }
    private var lastSeenAt: String? { self.record.lastSeenAt?.rfc3339 }
    package var path: String? { self.link?.path }

    package static let schemaName: String? = "Person"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.record.id),
        .required("name", \.record.name),
        .required("role", \.record.role),
        .optional("apps", \.apps, "The apps that the person is limited to; absent for all."),
        .required("disabled", \.record.isDisabled, "Whether the person cannot sign in."),
        .required("hasPassword", \.record.hasPassword, "Whether the person has redeemed a link."),
        .required("createdAt", \.record.createdAt.rfc3339, as: .dateTime),
        .optional("lastSeenAt", \.lastSeenAt, as: .dateTime, "Absent for a person who never signed in."),
        .optional("language", \.record.language),
        .optional("link", \.path, "The path with which the person chooses a password, once; only when it is made."),
        .optional("linkExpiresAt", \.link?.expiresAt.rfc3339, as: .dateTime),
    ]
}
