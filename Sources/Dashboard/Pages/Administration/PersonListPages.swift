import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The list of people who can sign in, and the form that invites one.
struct PersonListPages: FormArea {
    var routes: [PageRoute] {
        [
            .get("/people", { try await self.page($0, error: nil) }),
            self.form("/people", showsForbidden: false, self.add),
        ]
    }
    var menuEntry: MenuEntry? { MenuEntry(.server, "people", scope: .admin) }

    func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let query = URLText.query(["cursor": request.query("cursor"), "limit": "50"])
        let found = try await request.list("/v1/people\(query)", of: PersonResponse.self)
        var model: PageModel = [
            "people": found.entries.map { Self.row($0, request) }, "isOpen": error != nil,
            "fields": FormModel.fields(
                "person",
                [Self.make(request).field("name", value: request.form["name"] ?? "")]
                    + (try await Self.fields(request, person: nil)),
                error: error
            ),
        ]
        model["pager"] = request.pager(found.next, path: "/people")
        return request.page("people", title: "people.title", model, error: error)
    }

    private static func make(_ request: PageRequest) -> MemberFields {
        MemberFields(texts: request.texts, area: "people", list: PersonRequest.addition)
    }

    /// Returns the fields for the role and the apps. They show the posted values if there are any, and otherwise those
    /// of `person`, or the defaults for a new person if it is `nil`.
    static func fields(_ request: PageRequest, person: PersonResponse?) async throws -> [FormField] {
        let make = Self.make(request)
        let value = request.form["role"] ?? person?.record.role.rawValue ?? "author"
        let role = make.field("role", .choice(make.options("role", "roles")), value: value)
        let isTyped = request.form["role"] != nil
        return [role] + (try await AppLimit.fields(request, set: person?.apps, isTyped: isTyped))
    }

    static func row(_ response: PersonResponse, _ request: PageRequest) -> PageModel {
        let person = response.record
        var model = PageValue.members(response)
        model["path"] = "\(Dashboard.root)/people/\(person.id)"
        let role = person.role.rawValue
        model["roleText"] = request.texts.text("people.roleNames.\(role)") ?? role
        model["appText"] = AppLimit.text(response.apps, request.texts)
        let state = person.isDisabled ? "disabled" : person.hasPassword ? "active" : "invited"
        model["stateLabel"] = StateLabel.model(state, request.texts)
        for name in ["lastSeenAt", "language"] where model[name] == nil { model[name] = false }
        return model
    }

    /// Adds a person, and shows the invitation link. No later page shows it.
    private func add(_ request: PageRequest) async throws -> Response {
        let form = request.form
        let apps = try AppLimit.chosen(form, request.texts)
        let body = JSONValue.members([
            "name": .string(form["name"] ?? ""), "role": .string(form["role"] ?? ""),
            "apps": apps == .null ? nil : apps,
        ])
        return Self.link(try await request.call(.post("/v1/people", body), as: PersonResponse.self), request)
    }

    static func link(_ person: PersonResponse, _ request: PageRequest) -> Response {
        SecretPage.page(
            request,
            title: "people.invited",
            explanation: "people.once",
            secret: "\(request.origin)\(person.path ?? "")",
            next: "\(Dashboard.root)/people/\(person.record.id)"
        )
    }
}
