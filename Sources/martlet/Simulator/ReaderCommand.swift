import AppSimulator
import ArgumentParser
import Logging
import PushDevice
import PushSupport

/// `martlet reader`: runs one phone with a publisher's app, or many phones.
struct ReaderCommand: AsyncParsableCommand {
    static let configuration = command("reader")
        .help(
            "Simulate a publisher's reader, which wakes on a push and downloads the newest issue, once a day on Wi-Fi."
        )
        .detail(
            """
            It registers itself with the publisher's form. After a push it loads the catalogue, checks the entitlement, \
            and downloads the cover and the issue. A download that breaks off continues, even in the next run. The issue has a mark \
            until it is opened.
            """
        )
        .detail("Commands such as 'library' come from the arguments after --, from a script, or from standard input.")
        .detail("The command 'help' lists them. With --count they are for all readers, which keep all in memory.")
        .example("reader --app com.example.MyApp --public-key mk_public_… --registration-key k7Qz1yT9sW3eXa0P")
        .example(
            "reader --count 1000 --app com.example.MyApp --public-key mk_public_… -- 'wait downloaded 1000 600' quit"
        )

    @OptionGroup var common: CommonOptions
    @OptionGroup var app: SettingFlags<AppSettings>
    @OptionGroup var flags: SettingFlags<ReaderSettings>
    @OptionGroup var admin: SettingFlags<GatewaySettings.Admin>
    @Option(help: "Number of readers in this process. Default: 1.") var count: Int?
    @OptionGroup var console: ConsoleOptions

    func validate() throws {
        guard let count, !(1...100_000).contains(count) else { return }
        throw ValidationError("--count is a number from 1 to 100000.")
    }

    func run() async throws {
        let input: [LibraryCommand]? = try self.console.input()
        let settings = try await self.common.settings([self.app, self.flags, self.admin])
        let admin = GatewaySettings.Admin.url(settings)
        let log = LogConfiguration(settings, defaultLevel: .warning)
        let connections = settings.integer(ReaderSettings.connections) ?? 64
        let (configuration, phone) = try ReaderSettings.configuration(settings)
        let printer = self.console.printer
        let directory = settings.text(ReaderSettings.phone.directory)
        let logger = log.logger("device")
        let activation = DeviceActivation(adminURL: admin, proxy: phone.device.proxy)
        if let count {
            let fleet = try await Self.fleet(
                configuration,
                connections: connections,
                link: phone.device,
                files: (1...count).map { IdentityFile(path: "\(directory)/\($0).json") },
                activation: activation,
                logger: logger
            ) { printer.print(SimulatorResponse(lines: [$0.line], json: $0.json)) }
            let console = SimulatorConsole(simulator: fleet, input: input, printer: printer)
            return try await ServiceRunner.run([fleet], until: console, logger: log.logger("martlet"))
        }
        let reader = try await Self.reader(
            configuration,
            directory: directory,
            link: phone.device,
            activation: activation,
            logger: logger
        ) { printer.print($0) }
        let console = SimulatorConsole(simulator: reader, input: input, printer: printer)
        try await ServiceRunner.run([reader], until: console, logger: log.logger("martlet"))
    }

    /// Creates a reader with the state in the folder `directory`. If the folder is empty, a new device is activated.
    static func reader(
        _ configuration: ReaderConfiguration,
        directory: String,
        link: DeviceConfiguration,
        activation: DeviceActivation,
        logger: Logger,
        print: @escaping @Sendable (SimulatorEvent) -> Void
    ) async throws -> Reader {
        do {
            let folder = try PhoneFolder(directory)
            let file = IdentityFile(path: folder.identityFile)
            let identity = try await file.loadOrCreate { try await activation.activate(name: "Martlet reader") }
            return try Reader(
                configuration,
                folder: folder,
                link: link,
                identity: identity,
                save: { try file.save($0) },
                logger: logger,
                print: print
            )
        } catch let error as PhoneError {
            throw SettingsError("\(error)")
        }
    }

    /// The maximum number of devices that are activated at the same time. Others wait.
    private static let activations = 8

    /// Creates many readers, one for each identity file. New devices are activated for missing files.
    static func fleet(
        _ configuration: ReaderConfiguration,
        connections: Int,
        link: DeviceConfiguration,
        files: [IdentityFile],
        activation: DeviceActivation,
        logger: Logger,
        print: @escaping @Sendable (FleetTally.Counts) -> Void
    ) async throws -> ReaderFleet {
        let turns = CountingSemaphore(count: self.activations)
        let identities = try await withThrowingTaskGroup(of: DeviceIdentity.self) { group in
            for file in files {
                group.addTask {
                    try await turns.run {
                        try Task.checkCancellation()
                        return try await file.loadOrCreate { try await activation.activate(name: "Martlet reader") }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        do {
            return try ReaderFleet(
                configuration,
                connections: connections,
                link: link,
                identities: identities,
                logger: logger,
                print: print
            )
        } catch let error as PhoneError {
            throw SettingsError("\(error)")
        }
    }
}
