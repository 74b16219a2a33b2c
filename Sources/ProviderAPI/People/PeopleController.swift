import Foundation
import Hummingbird
package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
package import PushTypes

/// `/v1/people`: the people who can sign in.
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
                .body(PersonSettings.addition.schema, maximum: maximum).responses(.created(person)).errors(.conflict),
            .init(.get, one, id: "getPerson", "One person.", self.get).responses(.ok(person)),
            .init(.patch, one, .audited, id: "changePerson", self.change)
                .summary("Changes a person; another role, other apps and disabled end all sessions.")
                .body(PersonSettings.change.schema, maximum: maximum)
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

    /// Adds a person, who has no password until the link of the response is redeemed.
    private func add(_ request: OperationRequest) async throws -> Response {
        let settings = try PersonSettings(try await request.fields(PersonSettings.addition))
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
        let settings = try PersonSettings(try await request.fields(PersonSettings.change))
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

    /// Removes a person, unless it is the last one who can sign in and administer everything.
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

/// The members of a person that a request sets.
struct PersonSettings {
    private static let name = Member.text("name", 1...PersonRecord.maximumName)
    private static let role = Member.choice("role", of: PersonRole.self)
    private static let disabled = Member.bool("disabled").described("Whether the person cannot sign in.")
    static let language = Member.text("language", 1...35, pattern: "^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*$")
        .described("A tag such as de, for the pages.")
        .checked("invalid_language", "use a tag such as de or pt-BR") { text in
            text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { part in
                (1...8).contains(part.utf8.count) && part.utf8.allSatisfy { $0.isAlphanumeric }
            }
        }.clearable

    /// The members of a request that adds a person.
    static let addition = RequestObject(
        required: [Self.name, Self.role],
        optional: [KeySettings.appsMember, Self.language]
    )
    static let change = RequestObject(
        optional: [
            Self.name.neverNull, Self.role.neverNull, KeySettings.appsMember, Self.language,
            Self.disabled.neverNull,
        ]
    )

    let fields: JSONFields
    let name: String?
    let role: PersonRole?
    let apps: Update<Set<Topic>>?
    let isDisabled: Bool?
    let language: Update<String>?

    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields) throws {
        self.fields = fields
        self.name = try fields.value(Self.name).map { try PersonName.check($0) }
        self.role = try fields.value(Self.role)
        self.apps = try KeySettings.apps(fields)
        self.isDisabled = try fields.value(Self.disabled)
        self.language = try fields.value(Self.language)
        for name in ["name", "role", "disabled"] where fields.nulls.contains(name) {
            throw fields.error(name, "wrong_type", "it cannot be removed")
        }
    }

    /// Sets the members of a person that the request names.
    func apply(to person: inout PersonRecord) {
        if let name { person.name = name }
        if let role { person.role = role }
        if let apps { person.apps = apps.value }
        if let isDisabled { person.isDisabled = isDisabled }
        if let language { person.language = language.value }
    }
}

extension PersonRole: JSONRepresentable {}

/// The JSON of a person in responses, which never has the password.
package struct PersonResponse: ResponseObject {
    package let record: PersonRecord
    /// The link with which the person chooses a password; `nil` except in the response to its creation.
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
