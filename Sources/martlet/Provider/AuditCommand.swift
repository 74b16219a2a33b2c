import ArgumentParser

/// `martlet audit`: lists the changes that API keys have made.
struct AuditCommand: PagedListCommand {
    static let configuration = command("audit", "List the changes at a provider by API key, newest first.")
        .example("audit --limit 20")
    static let member: String? = "entries"
    static let columns: TextTable = [
        .time("at", "atMs"), .init("key", "keyName"), "action", "resource", "status", "count",
    ]

    @OptionGroup var access: ProviderOptions
    @OptionGroup var shown: LimitOption

    func request() -> APIRequest { .get("audit") }
}
