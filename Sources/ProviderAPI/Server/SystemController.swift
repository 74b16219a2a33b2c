import Foundation
import Hummingbird
import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operation `GET /v1/system`, which returns the state of the store, the dispatcher's lanes and the process.
struct SystemController: Controller {
    let store: SQLStore
    let dispatch: DispatchMetrics
    let startedAt: Timestamp
    let time: any TimeSource

    var operations: [ProviderOperation] {
        [
            .init(
                .get,
                "/v1/system",
                id: "showSystem",
                "The store, the queue and the nodes of the provider.",
                self.show
            )
            .tag(.operation).scope(.read).responses(.ok(SystemResponse.schema))
        ]
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let now = self.time.now
        let queue = try await self.store.statistics(now: self.time.steady)
        let lag = queue.oldestRetryDueAt.map { max(0, self.time.steady.since($0) / .seconds(1)) }
        let store = SystemResponse.Store(
            databaseBytes: self.store.fileBytes,
            logBytes: self.store.logBytes,
            availableBytes: self.store.availableBytes,
            queriesRunning: self.store.queryCounts.running,
            queriesWaiting: self.store.queryCounts.waiting,
            migrations: try await self.store.migrations()
        )
        let lanes = [NotificationRecord.Lane.urgent, .bulk].map {
            SystemResponse.Lane(lane: $0.name, pagesInFlight: self.dispatch.pagesInFlight($0))
        }
        let nodes = try await self.nodes(now)
        let response = SystemResponse(store: store, lanes: lanes, queue: queue, retryLag: lag, nodes: nodes)
        return try .json(response)
    }

    /// Returns the nodes that share the store, or the one process of a store that is not shared.
    private func nodes(_ now: Timestamp) async throws -> [SystemResponse.Node] {
        guard self.store.isShared else {
            let node = NodeDescription(name: ProcessInfo.processInfo.hostName, version: MartletVersion.number)
            return [
                SystemResponse.Node(
                    node: node,
                    startedAt: self.startedAt,
                    uptime: max(0, now.seconds - self.startedAt.seconds),
                    record: nil
                )
            ]
        }
        return try await self.store.nodes().map { record in
            SystemResponse.Node(
                node: record.description,
                startedAt: record.startedAt,
                uptime: max(0, (record.endedAt ?? now).seconds - record.startedAt.seconds),
                record: record
            )
        }
    }
}

/// The response body with a provider's state.
package struct SystemResponse: ResponseObject {
    /// The state of the database and its queries.
    package struct Store: ResponseObject {
        let databaseBytes, logBytes: Int
        let availableBytes: Int?
        let queriesRunning, queriesWaiting: Int
        package let migrations: [String]

        package static let members: [ResponseMember<Self>] = [
            .required("databaseBytes", \.databaseBytes),
            .required("logBytes", \.logBytes, "The length of the write-ahead log."),
            .optional("diskAvailableBytes", \.availableBytes, "Free space of the database's file system."),
            .required("queriesRunning", \.queriesRunning),
            .required("queriesWaiting", \.queriesWaiting),
            .required("migrations", \.migrations, "Those that the database has seen, in their order."),
        ]
    }

    /// The state of one lane of the dispatcher, urgent or bulk.
    struct Lane: ResponseObject {
        let lane: String
        let pagesInFlight: Int

        static let members: [ResponseMember<Self>] = [
            .required("lane", \.lane, as: .choice(["urgent", "bulk"])),
            .required("pagesInFlight", \.pagesInFlight, "Pages whose responses are outstanding."),
        ]
    }

    /// The state of one process of the provider, with its version.
    struct Node: ResponseObject {
        let node: NodeDescription
        let startedAt: Timestamp
        /// The time since the process started, in seconds.
        let uptime: Int64
        /// The row of the node in a store that several share, or `nil` for the one process of another store.
        let record: NodeRecord?

        var duties: [String]? { self.record.map { $0.duties.map(\.rawValue) } }

        static let members: [ResponseMember<Self>] = [
            .required("name", \.node.name, "The name of its machine."), .required("version", \.node.version),
            .required("startedAtMs", \.startedAt), .required("uptimeSeconds", \.uptime),
            .optional("id", \.record?.id, "Its number among the nodes of a database that several share."),
            .optional("address", \.node.address, "The address of its API."),
            .optional("seenAtMs", \.record?.seenAt, "The time of its last heartbeat."),
            .optional("endedAtMs", \.record?.endedAt, "The time at which it ended, or was taken for dead."),
            .optional("duties", \.duties, "The tasks that it performs for all nodes."),
        ]
    }

    package let store: Store
    let lanes: [Lane]
    let queue: StoreBacklog
    /// The time since the oldest due retry became due, in seconds, or `nil` if no retry is due.
    let retryLag: Double?
    let nodes: [Node]

    /// The numbers of notifications that are not complete, by the name of their state.
    package var notifications: [String: Int] {
        let states = NotificationRecord.State.allCases.filter { $0 != .done && $0 != .cancelled }
        return Dictionary(states.map { ($0.rawValue, self.queue.notifications[$0] ?? 0) }) { $1 }
    }

    package static let schemaName: String? = "System"
    package static let members: [ResponseMember<Self>] = [
        .required("store", \.store),
        .required("lanes", \.lanes),
        .required("notifications", \.notifications, "Those that have not ended, by state."),
        .required("retries", \.queue.retries, "Recipients that wait for another try."),
        .optional("retryLagSeconds", \.retryLag, "The time since the oldest retry became due."),
        .required("shardsLeased", \.queue.shardsLeased, "Parts of audiences that are being sent."),
        .required("shardsWaiting", \.queue.shardsWaiting),
        .required("shardsDue", \.queue.shardsDue),
        .required("webhookBacklog", \.queue.webhookBacklog, "Blocks of events that the slowest webhook lacks."),
        .required("tokensWithheld", \.queue.tokensWithheld, "Deactivations that wait for a decision."),
        .required("nodes", \.nodes),
    ]
}
