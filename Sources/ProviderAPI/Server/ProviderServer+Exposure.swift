import Logging
import PushStore

extension ProviderServer {
    /// Logs a warning for each file that other users of the machine can read or change.
    static func warnOfExposure(_ configuration: ProviderConfiguration, logger: Logger) {
        for (name, path) in [("master key", configuration.masterKeyPath), ("database", configuration.databasePath)] {
            guard let mode = FileExposure.mode(of: path) else { continue }
            logger.warning(
                "\(name) is open to other users of this machine",
                metadata: ["file": "\(path)", "mode": "\(mode)", "remedy": "chmod 600 \(path)"]
            )
        }
    }
}
