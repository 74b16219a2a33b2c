import ArgumentParser
import PushSupport

/// `martlet system`: shows the store, the queue and the nodes of a provider.
struct SystemCommand: RequestCommand {
    static let configuration = command("system", "Show the store, the queue and the nodes of a provider.")
        .example("system")

    @OptionGroup var access: ProviderOptions

    func request() -> APIRequest { .get("system") }

    func text(of response: JSONValue) -> String {
        let columns: TextTable = [
            .init("database bytes", "store.databaseBytes"), .init("log bytes", "store.logBytes"),
            .init("disk available", "store.diskAvailableBytes"), .init("queries running", "store.queriesRunning"),
            .init("queries waiting", "store.queriesWaiting"), "notifications", "retries",
            .init("retry lag", "retryLagSeconds"), .init("shards sent", "shardsLeased"),
            .init("shards waiting", "shardsWaiting"), .init("webhook backlog", "webhookBacklog"),
        ]
        let nodes: TextTable = [
            .init("node", "name"), "version", .time("started", "startedAtMs"), .init("uptime", "uptimeSeconds"),
        ]
        let lanes: TextTable = ["lane", .init("pages in flight", "pagesInFlight")]
        return [
            columns.details(of: response), lanes.text(of: response["lanes"].elements),
            nodes.text(of: response["nodes"].elements),
        ].joined(separator: "\n\n")
    }
}
