import ArgumentParser

/// `martlet audit`: lists the changes that callers have made.
struct AuditCommand: PagedListCommand {
    static let configuration = command("audit", "List the changes at a provider by API key, newest first.")
        .example("audit --limit 20")
    static let member: String? = "entries"
    static let columns: TextTable = [
        .time("at", "atMs"), .init("key", "keyName"), "action", "resource", "status", "count",
    ]

    @OptionGroup var access: ProviderOptions
    @OptionGroup var shown: LimitOption

    @Option(help: "Only those of the API key or person with this id.") var key: String?
    @Option(help: "Only those with this text in the name of the key or person.") var name: String?
    @Option(help: "Only those with this text in the method or the path.") var action: String?
    @Option(help: "done or rejected.") var result: String?
    @Option(help: "From this time on, as 2026-11-25T09:30:00Z.") var from: String?
    @Option(help: "Before this time.") var to: String?

    func request() -> APIRequest {
        .get("audit").query([
            ("key", self.key), ("name", self.name), ("action", self.action), ("result", self.result),
            ("from", self.from), ("to", self.to),
        ])
    }
}
