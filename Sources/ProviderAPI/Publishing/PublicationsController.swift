import Foundation
import Hummingbird
package import ProviderModel
package import PushHTTP
import PushStore
import PushSupport
package import PushTypes

/// The operations at `/v1/apps/{app}/publications` and `/v1/publications`, which manage the publications of apps.
struct PublicationsController: Controller {
    let store: any AppStore & PublishingStore
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let (all, one) = ("/v1/apps/{app}/publications", "/v1/publications/{publication}")
        let shown = ResponseDescription.ok(PublicationResponse.schema)
        let operations: [ProviderOperation] = [
            .init(.get, all, id: "listPublications", "The app's publications.", self.list)
                .scope(.read).responses(.ok(.list("publications", of: PublicationResponse.schema))),
            .init(.post, all, .audited, id: "addPublication", "Adds a publication.", self.add)
                .scope(.admin).body(PublicationRequest.addition.schema)
                .responses(.created(PublicationResponse.schema)).errors(.conflict),
            .init(.get, one, id: "showPublication", "One publication.", self.show).scope(.read).responses(shown),
            .init(.patch, one, .audited, id: "changePublication", "Changes a publication.", self.change)
                .scope(.admin).body(PublicationRequest.change.schema).responses(shown),
            .init(.delete, one, .audited, id: "deletePublication", "Removes a publication without issues.", self.delete)
                .scope(.admin).responses(.noContent).errors(.conflict),
        ]
        return operations.map { $0.tag(.publishing) }
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let publications = try await self.store.publications(app: app.id)
        return try .page("publications", publications.map { PublicationResponse(publication: $0, app: app.bundleID) })
    }

    private func add(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(PublicationRequest.addition)
        var publication = PublicationRecord(
            id: UUID(),
            app: app.id,
            name: try fields.required(PublicationRequest.name),
            createdAt: self.time.now
        )
        try PublicationRequest.changes(fields).apply(to: &publication)
        switch try await self.store.addPublication(publication) {
        case .added: break
        case .tooMany:
            let message = "an app has at most \(PublicationRecord.maximumOfApp) publications"
            throw RequestError.conflict("too_many_publications", message)
        case .noApp: throw RequestError.noSuch("app", by: "bundle id")
        }
        request.made(publication.id)
        return try .json(PublicationResponse(publication: publication, app: app.bundleID), status: .created)
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        try await self.response(try await request.object("publication") { try await self.store.publication($0) })
    }

    /// Changes the members that are in the body and leaves the others. `null` removes a value.
    private func change(_ request: OperationRequest) async throws -> Response {
        let changes = try PublicationRequest.changes(try await request.fields(PublicationRequest.change))
        let publication = try await request.object("publication") {
            try await self.store.changePublication($0, changes)
        }
        return try await self.response(publication)
    }

    private func delete(_ request: OperationRequest) async throws -> Response {
        switch try await request.object("publication", { try await self.store.deletePublication($0) }) {
        case .deleted: return .noContent
        case .missing: throw RequestError.noSuch("publication")
        case .hasIssues: throw RequestError.conflict("has_issues", "remove its issues first")
        }
    }

    private func response(_ publication: PublicationRecord) async throws -> Response {
        let app = try await self.store.app(id: publication.app)
        return try .json(PublicationResponse(publication: publication, app: app?.bundleID))
    }
}

/// The response object for a publication, with the waves of *Notify*.
package struct PublicationResponse: ResponseObject {
    package let publication: PublicationRecord
    /// The bundle id of the app, or `nil` if the app was removed.
    package let app: Topic?

    private var waves: JSONValue { NotifyWavesSetting.json(self.publication.waves) }
    package var subscriptions: [String] { self.publication.subscriptionProducts.sorted() }

    package static let schemaName: String? = "Publication"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.publication.id),
        .optional("app", \.app),
        .required("name", \.publication.name),
        .optional("account", \.publication.account, "The publisher's account whose devices see its issues."),
        .required("waves", \.waves, as: NotifyWavesSetting.member.schema, "The waves of Notify."),
        .required("subscriptionProducts", \.subscriptions, "The subscriptions that entitle to its issues."),
        .required("createdAtMs", \.publication.createdAt),
    ]
}
