import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The page of one person, with the person's role, apps and sessions, and a form that creates a new sign-in link.
struct PersonDetailPages: FormArea {
    var routes: [PageRoute] {
        [
            .get("/people/{person}", { try await self.page($0, error: nil) }),
            self.form("/people/{person}/edit", showsForbidden: false, self.edit),
            self.form("/people/{person}/invite", showsForbidden: false, self.invite),
            self.form("/people/{person}/disable", showsForbidden: false, self.disable),
            self.form("/people/{person}/enable", showsForbidden: false, self.enable),
            self.form("/people/{person}/sign-out", showsForbidden: false, self.signOut),
            self.form("/people/{person}/remove", showsForbidden: false, self.remove),
        ]
    }

    private static func path(_ request: PageRequest) -> String {
        "/people/\(URLText.encoded(request.parameter("person")))"
    }

    func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let path = Self.path(request)
        let person = try await request.get("/v1\(path)", as: PersonResponse.self)
        let sessions = try await request.list("/v1\(path)/sessions", of: SessionResponse.self).entries
        var model = PersonListPages.row(person, request)
        model["path"] = "\(Dashboard.root)\(path)"
        model["isDisabled"] = person.record.isDisabled
        model["sessions"] = sessions.map { SessionModel.row($0, request) }
        model["sessionCount"] = "\(sessions.count)"
        let stored = ["role": person.record.role.json, "apps": AppLimit.member(person.apps)]
        model["was"] = InitialFormValues.value(stored, request)
        model["fields"] = FormModel.fields(
            "edit",
            try await PersonListPages.fields(request, person: person),
            error: error
        )
        return request.page("person", title: person.record.name, model, error: error)
    }

    // MARK: Changes

    private func edit(_ request: PageRequest) async throws -> Response {
        try await self.change(request) { path in
            let wanted = [
                "role": JSONValue.string(request.form["role"] ?? ""),
                "apps": try AppLimit.chosen(request.form, request.texts),
            ]
            let changes = InitialFormValues.changes(wanted, request.form)
            return changes.isEmpty ? nil : .patch(path, .object(changes))
        }
    }

    private func disable(_ request: PageRequest) async throws -> Response {
        try await self.change(request) { .patch($0, .object(["disabled": .bool(true)])) }
    }

    private func enable(_ request: PageRequest) async throws -> Response {
        try await self.change(request) { .patch($0, .object(["disabled": .bool(false)])) }
    }

    private func signOut(_ request: PageRequest) async throws -> Response {
        try await self.change(request, done: "signedOut") { .delete("\($0)/sessions") }
    }

    private func invite(_ request: PageRequest) async throws -> Response {
        let call = LocalAPIRequest.post("/v1\(Self.path(request)):invite")
        return PersonListPages.link(try await request.call(call, as: PersonResponse.self), request)
    }

    private func remove(_ request: PageRequest) async throws -> Response {
        _ = try await request.call(.delete("/v1\(Self.path(request))"))
        return request.redirect(to: "/people", done: "removed")
    }

    /// Performs a change to the person, and redirects to the page of the person with the notice `done`. An error is
    /// shown on that page.
    /// - Parameter call: A closure that receives the person's path in the API and returns the request, or `nil` if
    ///   there is nothing to change.
    private func change(
        _ request: PageRequest,
        done: String = "saved",
        _ call: (String) throws -> LocalAPIRequest?
    ) async throws -> Response {
        if let call = try call("/v1\(Self.path(request))") { _ = try await request.call(call) }
        return request.redirect(to: Self.path(request), done: done)
    }
}

enum SessionModel {
    static func row(_ session: SessionResponse, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(session)
        model["isCurrent"] = session.isCurrent
        model["endPath"] = "\(Dashboard.root)/account/sessions/\(session.record.id)/end"
        return model
    }
}
