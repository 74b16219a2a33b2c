import ArgumentParser

/// `martlet audit`: lists the changes that API keys have made.
struct AuditCommand: PagedListCommand {
    static let configuration = CommandConfiguration("audit", "List the changes at a provider by API key, newest first.")
        .example("audit --limit 20")
    static let member = "entries"
    static let columns: [TextTable.Column] = [
        .init("at", "atMs", .time), .init("key", "keyName"), .init("action", "action"), .init("status", "status"),
    ]

    @OptionGroup var access: ProviderOptions
    @OptionGroup var shown: LimitOption

    var request: APIRequest { APIRequest(.get, ["audit"]) }
}
