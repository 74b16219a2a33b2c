import ArgumentParser

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List who changed what at a provider, newest first.",
        discussion: "Example: martlet audit --limit 20"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var shown: LimitOption

    func run() async throws {
        try await self.provider.list(
            "entries",
            ["audit"],
            limit: self.shown.limit,
            [
                .init("at", "atMs", .time), .init("key", "keyName"), .init("action", "action"),
                .init("status", "status"),
            ]
        )
    }
}
