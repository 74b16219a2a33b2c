import Hummingbird
import PushSupport
import WebPages

/// The catalogue of an app as its readers see it, with the covers.
struct CataloguePages: PageArea {
    /// The issues of a page.
    private static let count = 50

    var routes: [PageRoute] { [.get("/apps/{app}/publishing/catalogue", self.list)] }

    private func list(_ request: PageRequest) async throws -> Response {
        let account = request.query("account")
        let query = FormText.query([
            "account": account, "cursor": request.query("cursor"), "limit": "\(Self.count)",
        ])
        let list = try await request.getOfApp("/catalogue:preview\(query)")
        let path = "\(request.publishingPath)/catalogue"
        let model: PageModel = [
            "issues": list["issues"].elements.map { self.row($0, request) }, "accountName": account ?? "",
            "isFiltered": account != nil, "path": "\(Dashboard.root)\(path)",
            "publishing": "\(Dashboard.root)\(request.publishingPath)",
            "pager": request.pager(list["next"], path: path, ["account": account]) ?? false,
        ]
        return request.page("catalogue", title: "publishing.catalogue", model)
    }

    private func row(_ issue: JSONValue, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(issue)
        model["accessText"] = request.texts["publishing.access.\(issue["access"].stringValue ?? "")"]
        model["sizeText"] = issue["renditions"].elements.map { rendition in
            let size = request.format.bytes(rendition["size"].numberValue ?? 0)
            return "\(rendition["screenSize"].stringValue ?? "") (\(size))"
        }.joined(separator: ", ")
        // A browser shows images only; what else a publisher has chosen as a cover stays a file.
        let isImage = issue["cover"]["contentType"].stringValue?.hasPrefix("image/") ?? false
        let address = isImage ? issue["cover"]["url"].stringValue : nil
        model["coverAddress"] = address ?? false
        if model["number"] == nil { model["number"] = false }
        return model
    }
}
