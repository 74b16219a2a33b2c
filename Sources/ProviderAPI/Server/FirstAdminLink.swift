import Foundation
import Logging
import PushProvider
import PushSupport

/// The link with which the first person, an admin, is created. As long as there is no person, every start creates a new
/// link, so that a lost link does no harm. The link becomes invalid once there is a person.
struct FirstAdminLink: Sendable {
    private let people: PeopleService
    private let configuration: ProviderConfiguration
    private let logger: Logger
    private let show: @Sendable (String) -> Void

    /// Creates the issuer of the link. The link itself is created by ``issue(port:)``.
    /// - Parameter show: The closure that is called with the link once the link is valid and written to its file.
    init(
        _ people: PeopleService,
        _ configuration: ProviderConfiguration,
        logger: Logger,
        show: @escaping @Sendable (String) -> Void
    ) {
        (self.people, self.configuration, self.logger, self.show) = (people, configuration, logger, show)
    }

    /// Creates the link if there is no person, and writes it to its file. The server calls it when the listener is
    /// bound. A failure is only logged, because an administrator can also add people with an API key.
    func issue(port: Int) async {
        do {
            guard let link = try await self.people.makeLink(for: nil) else { return self.removeFile() }
            let url = "\(self.configuration.base(port: port))\(link.path)"
            guard let file = self.configuration.adminLinkFile else { return self.show(url) }
            guard DurableFile.replace(file, Array("\(url)\n".utf8)) else {
                return self.warn("\(file): \(DurableFile.lastError)")
            }
            self.show(url)
        } catch {
            self.warn("\(error)")
        }
    }

    private func removeFile() {
        guard let file = self.configuration.adminLinkFile else { return }
        try? FileManager.default.removeItem(atPath: file)
    }

    private func warn(_ error: String) {
        let remedy: Logger.MetadataValue = "martlet person add NAME --role admin"
        self.logger.warning(
            "link for the first person could not be made",
            metadata: ["error": "\(error)", "remedy": remedy]
        )
    }
}

extension ProviderConfiguration {
    /// The path of the file for the link that creates the first person. It is that of the admin key file with the
    /// extension `link`, or `nil` if there is no admin key file.
    package var adminLinkFile: String? {
        self.adminKeyFile.map { URL(filePath: $0).deletingPathExtension().appendingPathExtension("link").path }
    }

    /// Returns the URL of the pages for a browser on this host, without a path. An address that listens on all
    /// interfaces becomes `localhost`.
    func base(port: Int) -> String {
        let isAny = ["0.0.0.0", "::"].contains(self.host)
        let host = isAny ? "localhost" : self.host.contains(":") ? "[\(self.host)]" : self.host
        return "\(self.tls == nil ? "http" : "https")://\(host):\(port)"
    }
}
