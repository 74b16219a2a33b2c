import PushHTTP
import PushSupport
import WebPages

/// The requests and the addresses that the pages of publishing share.
extension PageRequest {
    /// The path of the app's publications, below the dashboard's.
    var publishingPath: String { "\(self.appPath)/publishing" }

    /// Returns the path of a publication's page, below the dashboard's.
    func publicationPath(_ id: String) -> String { "\(self.publishingPath)/\(FormText.encoded(id))" }

    /// Returns the path of an issue's page, below the dashboard's.
    func issuePath(_ id: String) -> String { "\(self.publishingPath)/issues/\(FormText.encoded(id))" }

    /// The path of the page's publication in the API.
    var publicationAPI: String { "/v1/publications/\(FormText.encoded(self.parameter("publication")))" }

    /// The path of the page's issue in the API.
    var issueAPI: String { "/v1/issues/\(FormText.encoded(self.parameter("issue")))" }

    /// Returns the publication that a path names.
    ///
    /// - Throws: ``RequestError``, also for one of another app.
    func publication(at path: String) async throws -> JSONValue {
        let publication = try await self.get(path)
        guard publication["app"].stringValue == self.app else { throw RequestError.noSuch("publication") }
        return publication
    }

    /// Returns the page's issue and its publication.
    ///
    /// - Throws: ``RequestError``, also for an issue of another app.
    func issue() async throws -> (issue: JSONValue, publication: JSONValue) {
        let issue = try await self.get(self.issueAPI)
        let path = "/v1/publications/\(FormText.encoded(issue["publication"].stringValue ?? ""))"
        return (issue, try await self.publication(at: path))
    }

    /// Returns what was typed into a field without the spaces around it; `nil` for an empty one.
    func typed(_ name: String) -> String? {
        let text = (self.form[name] ?? "").trimmingSpaces
        return text.isEmpty ? nil : text
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        let scalars = self.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }
}
