import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The page of one publication, with its issues, and the forms that add an issue and change or remove the publication.
struct PublicationDetailPages: PageArea {
    private static let states = ["draft", "published", "withdrawn"]
    private static let count = 50

    private enum Form { case add, edit }

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/publishing/{publication}", { try await self.page($0) }),
            .post("/apps/{app}/publishing/{publication}", self.add),
            .post("/apps/{app}/publishing/{publication}/edit", self.edit),
            .post("/apps/{app}/publishing/{publication}/delete", self.delete),
        ]
    }

    // MARK: The page

    /// Returns the page of a publication. `failed` is the form that the API has rejected, or `nil` if there is none.
    private func page(_ request: PageRequest, failed: Form? = nil, error: RequestError? = nil) async throws -> Response
    {
        let publication = try await request.publication(at: request.publicationAPI)
        var model = PublicationModel.values(publication, request)
        model["may"] = request.permissions
        try await self.addIssues(to: &model, request)
        model["addFields"] = FormModel.fields(
            "add",
            (failed == .add ? IssueForm(typed: request) : IssueForm()).fields(request.texts),
            error: failed == .add ? error : nil
        )
        model["editFields"] = FormModel.fields(
            "edit",
            (failed == .edit ? PublicationForm(typed: request) : PublicationForm(publication)).fields(request.texts),
            error: failed == .edit ? error : nil,
            names: PublicationForm.names
        )
        let isEmpty = (model["issues"] as? [PageModel] ?? []).isEmpty && request.query("state") == nil
        (model["isEmpty"], model["isAddOpen"]) = (isEmpty, isEmpty || failed == .add)
        model["isEditOpen"] = failed == .edit
        model["id"] = "\(publication.publication.id)"
        return request.page("publication", title: publication.publication.name, model, error: error)
    }

    private func addIssues(to model: inout PageModel, _ request: PageRequest) async throws {
        let (state, sort) = (request.query("state"), request.query("sort"))
        let query = URLText.query([
            "state": state, "sort": sort, "cursor": request.query("cursor"), "limit": "\(Self.count)",
        ])
        let list = try await request.list("\(request.publicationAPI)/issues\(query)", of: IssueResponse.self)
        let path = request.publicationPath(request.parameter("publication"))
        model["issues"] = list.entries.map { IssueModel.row($0, request) }
        model["pager"] = request.pager(list.next, path: path, ["state": state, "sort": sort])
        let isOldest = sort == "oldest"
        model["order"] = isOldest ? "ascending" : "descending"
        let other = URLText.query(["state": state, "sort": isOldest ? nil : "oldest"])
        model["sortPath"] = "\(Dashboard.root)\(path)\(other)"
        model["sort"] = sort ?? false
        model["isFiltered"] = state != nil
        model["states"] = Self.states.map { name -> PageModel in
            ["value": name, "label": request.texts["states.\(name)"], "chosen": name == state]
        }
    }

    // MARK: Changes

    private func add(_ request: PageRequest) async throws -> Response {
        try request.require(.send)
        do {
            let body = IssueForm(typed: request).body(isNew: true)
            let call = LocalAPIRequest.post("\(request.publicationAPI)/issues", body)
            let added = try await request.call(call, as: IssueResponse.self).issue
            return request.redirect(to: request.issuePath("\(added.id)"), done: "issueAdded")
        } catch let error as RequestError {
            return try await self.page(request, failed: .add, error: error)
        }
    }

    private func edit(_ request: PageRequest) async throws -> Response {
        try request.require(.admin)
        do {
            let body = try PublicationForm(typed: request).body(request.texts)
            _ = try await request.call(.patch(request.publicationAPI, body))
            return request.redirect(to: request.publicationPath(request.parameter("publication")), done: "saved")
        } catch let error as RequestError {
            return try await self.page(request, failed: .edit, error: error)
        }
    }

    private func delete(_ request: PageRequest) async throws -> Response {
        try request.require(.admin)
        do {
            _ = try await request.call(.delete(request.publicationAPI))
            return request.redirect(to: request.publishingPath, done: "removed")
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }
}
