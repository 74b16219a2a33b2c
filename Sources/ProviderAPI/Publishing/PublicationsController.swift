import Foundation
import Hummingbird
package import ProviderModel
package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
package import PushTypes

/// `/v1/apps/{app}/publications` and `/v1/publications`: the publications of apps.
struct PublicationsController: Controller {
    let store: any AppStore & PublishingStore
    let time: any TimeSource

    private static let lengths = 1...DeviceRequest.maximumText

    private static let name = Member.text("name", Self.lengths)
    private static let account = Member.text("account", Self.lengths).clearable
    private static let subscriptions = Member.texts(
        "subscriptionProducts",
        0...PublicationRecord.maximumSubscriptions,
        maximum: DeviceRequest.maximumText,
        as: .string(length: Self.lengths, pattern: "^[^\\s]+$")
    ).described("The subscriptions in the App Store that entitle to its issues. They replace all earlier ones.")
    private static let options: [any ObjectMember] = [Self.account, NotifyWavesSetting.member, Self.subscriptions]

    static let addition = RequestObject(required: [Self.name], optional: Self.options) {
        $0.example(.texts(["name": "The Example"]))
    }
    static let changes = RequestObject(optional: Self.options, [Self.name])

    var operations: [ProviderOperation] {
        let (all, one) = ("/v1/apps/{app}/publications", "/v1/publications/{publication}")
        let shown = ResponseDescription.ok(PublicationResponse.schema)
        let operations: [ProviderOperation] = [
            .init(.get, all, id: "listPublications", "The app's publications.", self.list)
                .scope(.read).responses(.ok(.list("publications", of: PublicationResponse.schema))),
            .init(.post, all, .audited, id: "addPublication", "Adds a publication.", self.add)
                .scope(.admin).body(Self.addition.schema)
                .responses(.created(PublicationResponse.schema)).errors(.conflict),
            .init(.get, one, id: "showPublication", "One publication.", self.show).scope(.read).responses(shown),
            .init(.patch, one, .audited, id: "changePublication", "Changes a publication.", self.change)
                .scope(.admin).body(Self.changes.schema).responses(shown),
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
        let fields = try await request.fields(Self.addition)
        var publication = PublicationRecord(
            id: UUID(),
            app: app.id,
            name: try fields.required(Self.name),
            createdAt: self.time.now
        )
        try Self.changes(fields).apply(to: &publication)
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
        let changes = try Self.changes(try await request.fields(Self.changes))
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

    private static func changes(_ fields: JSONFields) throws -> PublicationChanges {
        var changes = PublicationChanges()
        changes.name = try fields.value(Self.name)
        changes.account = try fields.value(Self.account)
        try NotifyWavesSetting.read(fields, into: &changes)
        if let products = try fields.value(Self.subscriptions) {
            guard products.allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 } }) else {
                throw fields.error("subscriptionProducts", "invalid_value", "a product id has no spaces")
            }
            changes.subscriptionProducts = Set(products)
        }
        return changes
    }

    private func response(_ publication: PublicationRecord) async throws -> Response {
        let app = try await self.store.app(id: publication.app)
        return try .json(PublicationResponse(publication: publication, app: app?.bundleID))
    }
}

/// The JSON of a publication in responses, with the waves of *Notify*.
package struct PublicationResponse: ResponseObject {
    package let publication: PublicationRecord
    /// The bundle id of the app; `nil` if the app was removed.
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

/// The member `waves` of a publication in requests and responses.
enum NotifyWavesSetting {
    private static let bandwidth = SteeringLimits.bandwidth.clearable
    private static let downloads = SteeringLimits.downloads.clearable
    private static let steering = Member.object(
        "steering",
        RequestObject(optional: [Self.bandwidth, Self.downloads]) { $0.named("Steering").orNull }
    ).described("null removes both limits.")

    static let member = Member.object(
        "waves",
        RequestObject(optional: [PaceSettings.size, PaceSettings.interval, Self.steering]) { $0.named("NotifyWaves") }
    )

    /// Reads the changes of the waves.
    static func read(_ fields: JSONFields, into changes: inout PublicationChanges) throws(RequestError) {
        guard let waves = try fields.value(Self.member) else { return }
        changes.waveSize = try waves.value(PaceSettings.size).map(Int.init)
        changes.waveInterval = try waves.value(PaceSettings.interval).map(Int.init)
        if waves.nulls.contains("steering") { (changes.maximumBandwidth, changes.maximumDownloads) = (.clear, .clear) }
        guard let steering = try waves.value(Self.steering) else { return }
        changes.maximumBandwidth = try steering.value(Self.bandwidth).map { $0.map { Int($0) } }
        changes.maximumDownloads = try steering.value(Self.downloads).map { $0.map { Int($0) } }
    }

    static func json(_ waves: NotifyWaves) -> JSONValue {
        var members: [String: JSONValue] = [
            "size": .integer(Int64(waves.size)), "intervalSeconds": .integer(Int64(waves.interval)),
        ]
        let limits = SteeringLimits(
            maximumBandwidth: waves.maximumBandwidth,
            maximumDownloads: waves.maximumDownloads
        )
        members["steering"] = limits?.json
        return .object(members)
    }
}
