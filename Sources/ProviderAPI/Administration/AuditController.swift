import Hummingbird
package import ProviderModel
package import PushHTTP
import PushStore
import PushSupport

/// The operation `/v1/audit`, which lists the changes that were made with API keys and by people.
struct AuditController: Controller {
    let store: any AuditStore
    /// The writer of the audit trail. It must write the counts that are still in memory before entries are listed.
    let trail: AuditTrail

    /// The maximum length of a search string, in bytes. A longer one is rejected.
    private static let maximumText = 300

    var operations: [ProviderOperation] {
        let text = Schema.string(length: 1...Self.maximumText)
        return [
            .init(.get, "/v1/audit", id: "listAudit", "The changes by API key or person, newest first.", self.list)
                .tag(.administration).scope(.admin).cost(.query)
                .parameters(
                    .query("key", "By this API key or person, by the id.", .uuid),
                    .query("name", "With this text in the name of the key or person.", text),
                    .query("action", "With this text in the method or the path.", text),
                    .query("resource", "That made the object with this id.", text),
                    .query("result", "done, or rejected.", .choice(["done", "rejected"])),
                    .from,
                    .to,
                    .cursor,
                    .limit()
                )
                .responses(.ok(.page("entries", of: AuditRecord.schema))).reservingPage(ofEntries: 320)
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let page = try request.page(.audit)
        var filter = AuditFilter()
        filter.key = try request.queryUUID("key")
        filter.name = try request.text("name", maximum: Self.maximumText)
        filter.action = try request.text("action", maximum: Self.maximumText)
        filter.resource = try request.text("resource", maximum: Self.maximumText)
        filter.hasFailed = try request.value(
            "result",
            { ["done": false, "rejected": true][$0] },
            orThrow: .invalid("result", "use done or rejected")
        )
        (filter.from, filter.to) = try request.timeRange()
        try await self.trail.flush()
        let list = try await self.store.audit(filter, before: page.after, limit: page.limit)
        let next = list.next.map { Cursor(list: .audit, position: $0.number).text }
        return try .page("entries", list.entries, next: next)
    }
}

/// The response object for an audit entry, with the caller, the request, the status and the number of repetitions.
extension AuditRecord: ResponseObject {
    package static let schemaName: String? = "AuditEntry"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.id),
        .required("atMs", \.at),
        .optional("key", \.key, "The API key, or the person."),
        .required("keyName", \.keyName),
        .required("isPerson", \.isPerson, "Whether the two above are those of a person."),
        .required("action", \.action, "Method and path."),
        .optional("resource", \.resource, "The id of what the request made."),
        .required("status", \.status),
        .required("count", \.count, "The number of requests: equal ones of a minute that failed share one entry."),
    ]
}
