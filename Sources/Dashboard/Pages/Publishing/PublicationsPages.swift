import Hummingbird
import PushHTTP
import PushStore
import PushSupport
import WebPages

/// The publications of an app with their newest issues, and the form that adds one.
struct PublicationsPages: PageArea {
    /// The issues that are shown of each publication.
    private static let newest = 3

    var routes: [PageRoute] {
        [.get("/apps/{app}/publishing", self.show), .post("/apps/{app}/publishing", self.add)]
    }

    private func show(_ request: PageRequest) async throws -> Response { try await self.page(request, error: nil) }

    private func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let publications = try await request.getOfApp("/publications")["publications"].elements
        var rows: [PageModel] = []
        for (index, publication) in publications.enumerated() {
            // One request of many alike is enough for the list of the page's requests.
            rows.append(try await self.row(publication, request, isNoted: index == 0))
        }
        let form = error == nil ? PublicationForm() : PublicationForm(typed: request)
        let model: PageModel = [
            "publications": rows, "path": "\(Dashboard.root)\(request.publishingPath)", "may": request.permissions,
            "isOpen": publications.isEmpty || error != nil, "bundleId": request.app,
            "fields": FormModel.fields(
                "add",
                form.fields(request.texts),
                error: error,
                names: PublicationForm.names
            ),
        ]
        return request.page("publications", title: "publishing.title", model, error: error)
    }

    private func row(_ publication: JSONValue, _ request: PageRequest, isNoted: Bool) async throws -> PageModel {
        let id = publication["id"].stringValue ?? ""
        let path = "/v1/publications/\(FormText.encoded(id))/issues?limit=\(Self.newest)"
        let issues = try await request.call(.get(path), isNoted: isNoted)["issues"].elements
        var model = PublicationModel.values(publication, request)
        model["issues"] = issues.map { IssueModel.row($0, request) }
        return model
    }

    private func add(_ request: PageRequest) async throws -> Response {
        try request.require(.admin)
        do {
            let body = try PublicationForm(typed: request).body(request.texts)
            let added = try await request.call(.post("\(request.api)/publications", body))
            return request.redirect(to: request.publicationPath(added["id"].stringValue ?? ""), done: "saved")
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }
}

/// A publication in a page.
enum PublicationModel {
    static func values(_ publication: JSONValue, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(publication)
        model["path"] = "\(Dashboard.root)\(request.publicationPath(publication["id"].stringValue ?? ""))"
        model["waveText"] = self.waves(publication["waves"], request)
        model["limitText"] = self.limits(publication["waves"]["steering"], request) ?? false
        let products = publication["subscriptionProducts"].elements.compactMap(\.stringValue)
        model["subscriptionText"] = products.isEmpty ? false : products.joined(separator: ", ")
        // `account` is who is signed in, on every page.
        model["accountName"] = publication["account"].stringValue ?? false
        return model
    }

    /// Returns the size and the interval of waves in words.
    static func waves(_ waves: JSONValue, _ request: PageRequest) -> String {
        let (format, size) = (request.format, waves["size"].numberValue ?? 0)
        let interval = format.duration(seconds: waves["intervalSeconds"].numberValue ?? 0)
        return request.texts["publishing.waves", ["size": format.number(size), "interval": interval]]
    }

    /// Returns the limits of downloads in words; `nil` without any.
    static func limits(_ steering: JSONValue, _ request: PageRequest) -> String? {
        let (texts, format) = (request.texts, request.format)
        let downloads = steering["maximumDownloads"].numberValue.map {
            texts["publishing.downloadLimit", ["count": format.number($0)]]
        }
        let bandwidth = steering["maximumBandwidth"].numberValue.map {
            texts["publishing.bandwidthLimit", ["rate": "\(format.bytes($0))/s"]]
        }
        let limits = [downloads, bandwidth].compactMap(\.self)
        return limits.isEmpty ? nil : limits.joined(separator: ", ")
    }
}
