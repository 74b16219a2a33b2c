import Foundation
import Logging

/// The line of the log that says what a server works with.
enum StartLine {
    /// Logs the directory of the data and the settings file, both as absolute paths.
    static func log(to logger: Logger, _ message: Logger.Message, data: String, _ settings: SettingsReader) {
        var metadata: Logger.Metadata = ["data": "\(Self.absolute(data))", "version": "\(Version.text)"]
        metadata["settings"] = "\(settings.file.map(Self.absolute) ?? "none")"
        logger.info(message, metadata: metadata)
    }

    private static func absolute(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }
}
