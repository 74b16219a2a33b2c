import ArgumentParser
import Configuration
import Foundation
import ProviderAPI
import PushDevice
import PushGateway
import PushProvider
import PushTesting
import PushTypes
import Testing

@testable import martlet

/// The table of settings, and what comes from it.
@Suite struct SettingTableTests {
    private static let all = SettingTable.all.flatMap(\.settings)

    private func settings<Section>(_ section: Section.Type, _ words: String...) async throws -> SettingsReader
    where Section: SettingSection {
        try await SettingsReader(flags: try SettingFlags<Section>.parse(words).values)
    }

    @Test func everySettingIsExplainedAndDeclaredOnce() {
        #expect(Set(Self.all.map(\.key)).count == Self.all.count)
        for setting in Self.all {
            #expect(!setting.summary.isEmpty && !setting.summary.hasSuffix("."), "\(setting.key)")
            #expect(setting.discussion?.hasSuffix(".") ?? true, "\(setting.key)")
        }
    }

    /// The names that the table shows are those by which swift-configuration looks the settings up.
    @Test func everySettingIsReadFromItsEnvironmentVariable() {
        for setting in Self.all {
            let variables = [setting.environmentVariable: "value"]
            let provider = EnvironmentVariablesProvider(environmentVariables: variables).prefixKeys(with: "martlet")
            let text = ConfigReader(provider: provider).string(forKey: ConfigKey(setting.key))
            #expect(text == "value", "\(setting.key)")
        }
    }

    @Test func theDocumentationIsTheTable() async throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let file = try String(contentsOf: root.appending(path: "docs/settings.md"), encoding: .utf8)
        let text = try await martlet(["help", "settings", "--markdown"])
        #expect(file == text + "\n", "martlet help settings --markdown > docs/settings.md")
    }

    @Test func theTableCanBeFilteredByKey() async throws {
        let table = try await martlet(["help", "settings", "serve.breaker"])
        #expect(table.split(separator: "\n").count == 5)
        #expect(table.contains("MARTLET_SERVE_BREAKER_DEAD") && table.contains("--breaker-dead"))
        #expect(await failure { try await martlet(["help", "settings", "nothing"]) }?.contains("no setting") == true)
        #expect(await failure { try await martlet(["help", "nothing"]) }?.contains("no command") == true)
    }

    @Test func flagsOfTheTableAreInTheHelpOfTheirCommands() {
        let commands: [(any ParsableCommand.Type, [String])] = [
            (ServeCommand.self, ["serve", "log"]), (GatewayRunCommand.self, ["gateway"]),
            (DeviceRunCommand.self, ["device"]), (SendCommand.self, ["send"]),
            (ListResources<RegisteredDevice>.self, ["api"]), (CredentialCommand.Change.self, ["credential"]),
            (SendCommand.self, ["api", "credential"]),
        ]
        for (command, parts) in commands {
            let help = command.helpMessage(columns: 200)
            for setting in Self.all where parts.contains(where: { setting.key.hasPrefix("\($0).") }) {
                guard let flag = setting.flag, setting.key != "gateway.adminURL" else { continue }
                #expect(help.contains("--\(flag)") && help.contains("(\(setting.key)"), "\(setting.key)")
            }
        }
    }

    /// What the table shows as a default is what a configuration has in which nothing was set.
    @Test func defaultsAreThoseOfTheConfigurations() async throws {
        let none = try await SettingsReader()
        var shown: [String: ConfigValue] = [:]
        for setting in Self.all {
            if case .integer = setting.kind, let number = setting.defaultText.flatMap(Int.init) {
                shown[setting.key] = ConfigValue(.int(number), isSecret: false)
            }
        }
        shown = shown.filter { !$0.key.hasPrefix("gateway.rules.") }
        let explicit = try await SettingsReader(flags: shown)
        let provider = "\(ProviderConfiguration.defaults)"
        #expect("\(try ServeCommand.configuration(none))" == provider)
        #expect("\(try ServeCommand.configuration(explicit))" == provider)
        let (gateway, other) = (GatewayRunCommand.configuration(none), GatewayRunCommand.configuration(explicit))
        #expect(gateway.listeners == GatewayConfiguration.defaults.listeners && other.listeners == gateway.listeners)
        #expect(gateway.admin == GatewayConfiguration.defaults.admin && other.admin == gateway.admin)
        #expect(gateway.rules == .lenient && other.rules == gateway.rules)
        #expect("\(gateway.limits)" == "\(GatewayConfiguration.defaults.limits)")
        #expect("\(other.limits)" == "\(gateway.limits)")
        var device = DeviceConfiguration.defaults
        DeviceSettings.apply(explicit, to: &device)
        #expect("\(device)" == "\(DeviceConfiguration.defaults)")
        try none.check()
        try explicit.check()
    }

    @Test(
        arguments: [
            (["STRICT": "true", "RULES_PUSHES_PER_DEVICE_AND_MINUTE": "30"], 30, 1000),
            (["STRICT": "true", "RULES_PUSH_BURST_PER_DEVICE": "7"], 600, 7),
            (["RULES_PUSHES_PER_DEVICE_AND_MINUTE": "30"], 30, 30),
            (["RULES_PUSHES_PER_DEVICE_AND_MINUTE": "30", "RULES_PUSH_BURST_PER_DEVICE": "7"], 30, 7),
        ] as [([String: String], Int, Int)]
    )
    func aRateOfPushesKeepsTheBurst(given: [String: String], requests: Int, burst: Int) async throws {
        let environment = Dictionary(uniqueKeysWithValues: given.map { ("MARTLET_GATEWAY_\($0.key)", $0.value) })
        let settings = try await SettingsReader(environment: environment)
        let rate = GatewayRunCommand.configuration(settings).rules.deviceRate
        try settings.check()
        #expect(rate?.requests == requests && rate?.burst == burst)
    }

    @Test func aBurstOfPushesNeedsARate() async throws {
        for others in [
            [:], ["MARTLET_GATEWAY_STRICT": "true", "MARTLET_GATEWAY_RULES_PUSHES_PER_DEVICE_AND_MINUTE": "0"],
        ] {
            let burst = ["MARTLET_GATEWAY_RULES_PUSH_BURST_PER_DEVICE": "7"]
            let settings = try await SettingsReader(environment: burst.merging(others) { $1 })
            _ = GatewayRunCommand.configuration(settings)
            let error = #expect(throws: SettingsError.self) { try settings.check() }
            #expect(error?.description.contains("set gateway.rules.pushesPerDeviceAndMinute too") == true)
        }
    }

    @Test func limitsOfTheProviderComeFromSettingsAndOutOfRangeOnesAreNamed() async throws {
        let settings = try await self.settings(
            ServeSettings.Limits.self,
            "--page",
            "200",
            "--retention-days",
            "7",
            "--allow-private-webhooks"
        )
        let configuration = try ServeCommand.configuration(settings)
        try settings.check()
        #expect(configuration.dispatch.page == 200 && configuration.dispatch.walkers == 4)
        #expect(configuration.retention.notifications == .seconds(7 * 86_400))
        #expect(configuration.webhookAddresses.allowsPrivate && !configuration.webhookAddresses.allowsPlainHTTP)

        let bad = try await self.settings(
            ServeSettings.Limits.self,
            "--walkers",
            "0",
            "--retention-days",
            "\(Int.max)"
        )
        _ = try ServeCommand.configuration(bad)
        let text = await failure { try bad.check() }
        #expect(text?.contains("serve.dispatch.walkers") == true && text?.contains("serve.retentionDays") == true)
    }

    @Test func entitlementComesFromSettings() async throws {
        try await withTemporaryDirectory { directory in
            let (root, none) = ("\(directory)/root.der", "\(directory)/none.pem")
            try Data(try TestAppStore().root).write(to: URL(filePath: root))
            try Data("no certificate".utf8).write(to: URL(filePath: none))
            let settings = try await self.settings(
                ServeSettings.Entitlement.self,
                "--app-store-root",
                root,
                "--allow-sandbox-purchases",
                "--known-hours",
                "48"
            )
            let configuration = try ServeCommand.configuration(settings)
            try settings.check()
            #expect(configuration.entitlement.roots != nil && configuration.entitlement.allowsSandboxPurchases)
            #expect(configuration.entitlement.knownTime == .seconds(48 * 3600))
            for file in [none, "\(directory)/missing.pem"] {
                let wrong = try await self.settings(ServeSettings.Entitlement.self, "--app-store-root", file)
                let error = #expect(throws: SettingsError.self) { try ServeCommand.configuration(wrong) }
                #expect(error?.description.contains("serve.publishing.appStoreRoot: \(file)") == true)
            }
        }
    }

    @Test(arguments: [("--tls-certificate", "serve.tls.key"), ("--tls-key", "serve.tls.certificate")])
    func halfOfTheFilesOfTLSIsAnErrorOfTheSettings(flag: String, missing: String) async throws {
        let settings = try await self.settings(ServeSettings.General.self, flag, "a.pem")
        let error = #expect(throws: SettingsError.self) { try ServeSettings.General.tls(settings) }
        #expect(error?.status == .usage && error?.description.contains(missing) == true)
    }

    @Test func limitsOfTheBreakerComeFromSettings() async throws {
        func limits(_ words: [String]) async throws -> CircuitBreaker.Limits {
            let settings = try await SettingsReader(flags: try SettingFlags<ServeSettings.Breaker>.parse(words).values)
            let limits = try ServeCommand.configuration(settings).breaker
            try settings.check()
            return limits
        }
        #expect(try await limits([]) == CircuitBreaker.Limits())
        let own = try await limits([
            "--breaker-minimum", "50", "--breaker-dead", "10", "--breaker-bad", "100", "--breaker-memory", "50",
        ])
        #expect(own.minimum == 50 && own.dead == 0.1 && own.bad == 1 && own.memory == 50)
        for (words, name) in [
            (["--breaker-dead", "0"], "serve.breaker.dead: 0 is not between 1 and 100"),
            (["--breaker-memory", "-1"], "serve.breaker.memory: -1 is not between 1 and 1000000"),
            (["--breaker-bad", "101"], "serve.breaker.bad: 101 is not between"),
            (["--breaker-minimum", "0"], "serve.breaker.minimum: 0 is not between"),
            (["--breaker-memory", "199"], "serve.breaker.memory: 199 is less than serve.breaker.minimum, 200"),
        ] {
            let text = await failure { _ = try await limits(words) }
            #expect(text?.contains(name) == true, "\(words)")
        }
    }

    @Test func singleRulesOfAGatewayWinOverThePreset() async throws {
        let flags: [String: ConfigValue] = [
            "gateway.strict": ConfigValue(.bool(true), isSecret: false),
            "gateway.rules.firstStreams": ConfigValue(.int(7), isSecret: false),
            "gateway.rules.idleSeconds": ConfigValue(.int(0), isSecret: false),
        ]
        let rules = GatewayRunCommand.configuration(try await SettingsReader(flags: flags)).rules
        #expect(rules.firstStreamLimit == 7 && rules.idleTimeout == nil && rules.requiresJSONObject)
    }

    @Test(arguments: ["", "a b", "a..b", ".", "*", "ä.example"])
    func aServerNameThatNoCertificateCanHaveIsNamed(name: String) async throws {
        let settings = try await self.settings(GatewaySettings.General.self, "--server-name", name)
        _ = GatewayRunCommand.configuration(settings)
        let error = #expect(throws: SettingsError.self) { try settings.check() }
        #expect(error?.description == "gateway.serverNames: '\(name)' is not a host name or an IP address")
    }

    @Test func serverNamesAreHostNamesAndAddresses() async throws {
        let names = ["gateway.example.com", "*.example.com", "10.0.0.1", "fe80::1", "a_b"]
        let words = names.flatMap { ["--server-name", $0] }
        let settings = try await SettingsReader(
            flags: try SettingFlags<GatewaySettings.General>.parse(words).values
        )
        #expect(GatewayRunCommand.configuration(settings).serverNames == names)
        try settings.check()
    }

    @Test func freePortsAreTakenWhereNoPortIsNamed() async throws {
        let settings = try await self.settings(GatewaySettings.Listeners.self, "--binary-port", "4000")
        let configuration = GatewayRunCommand.configuration(settings, freePorts: true)
        #expect(
            configuration.listeners[.sandbox]?.http2.port == 0 && configuration.listeners[.sandbox]?.binary.port == 4000
        )
        #expect(configuration.listeners[.production]?.http2.port == 0 && configuration.admin.port == 0)
        let usual = GatewayRunCommand.configuration(settings)
        #expect(usual.listeners[.production]?.binary.port == 4100 && usual.listeners[.production]?.http2.port == 2297)
    }

    @Test func aProductionPortThatFollowsFromANamedOneIsFreeWhereTheOthersAre() async throws {
        let settings = try await self.settings(GatewaySettings.Listeners.self, "--http2-port", "65500")
        let free = GatewayRunCommand.configuration(settings, freePorts: true)
        #expect(free.listeners[.sandbox]?.http2.port == 65_500 && free.listeners[.production]?.http2.port == 0)
        try settings.check()
    }

    @Test func aProductionPortThatDoesNotExistIsAnErrorOfItsSetting() async throws {
        let settings = try await self.settings(GatewaySettings.Listeners.self, "--http2-port", "65500")
        _ = GatewayRunCommand.configuration(settings)
        let error = #expect(throws: SettingsError.self) { try settings.check() }
        #expect(error?.description == "gateway.productionHTTP2Port: 65600 is not a port, use 0 to 65535")
    }

    @Test func anAPIKeyWithALineBreakIsNotShown() async throws {
        let settings = try await self.settings(APISettings.self, "--api-key", "mk_secret\r")
        let error = #expect(throws: SettingsError.self) { try APISettings.client(settings) }
        #expect(error?.description.hasPrefix("api.key: ") == true)
        #expect(error?.description.contains("mk_secret") == false)
    }

    @Test func formsOfOlderSystemsAreOpenedByApp() async throws {
        let key = "0123456789abcdef"
        let settings = try await self.settings(
            ServeSettings.Compatibility.self,
            "--door",
            "com.example.MyApp=\(key)",
            "--account",
            "b.c=me"
        )
        let doors = try ServeSettings.Compatibility.configuration(settings).apps
        #expect(doors.count == 2)
        #expect(Topic("com.example.MyApp").flatMap { doors[$0] }?.key == key)
        #expect(Topic("b.c").flatMap { doors[$0] }?.accounts == ["me"])
    }

    @Test(arguments: [
        "com.example.MyApp", "=0123456789abcdef", "com.example.MyApp=short-secret", "a b=0123456789abcdef",
    ])
    func anInvalidFormIsRejectedWithoutShowingItsKey(text: String) async throws {
        let settings = try await self.settings(ServeSettings.Compatibility.self, "--door", text)
        let error = await failure { _ = try ServeSettings.Compatibility.configuration(settings) }
        #expect(error?.contains("serve.compatibility") == true && error?.contains("short-secret") == false)
    }

    /// Other users of the machine see flags in the list of processes.
    @Test func aSecretOnTheCommandLineIsNamed() throws {
        let key = try SettingFlags<APISettings>.parse(["--api-key", "x"])
        #expect(key.exposed.map(\.key) == ["api.key"])
        #expect(key.exposed.first?.exposureText.contains("MARTLET_API_KEY") == true)
        #expect(try SettingFlags<APISettings>.parse(["--server", "http://127.0.0.1:1"]).exposed.isEmpty)
        let door = try SettingFlags<ServeSettings.Compatibility>.parse(["--door", "com.example.MyApp=0123456789abcdef"])
        #expect(door.exposed.map(\.key) == ["serve.compatibility.doors"])
        for (proxy, isExposed) in [("http://proxy.example:3128", false), ("http://me:secret@proxy.example:3128", true)]
        {
            let flags = try SettingFlags<ServeSettings.General>.parse(["--proxy", proxy])
            #expect(flags.exposed.isEmpty != isExposed)
        }
    }
}
