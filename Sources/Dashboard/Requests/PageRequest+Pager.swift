import WebPages

extension PageRequest {
    /// Returns the links of a list's pager: to the first page, unless this is it, and to the next one.
    func pager(_ next: String?, path: String, _ filters: KeyValuePairs<String, String?> = [:]) -> PageModel? {
        let query = URLText.query(filters)
        var model: PageModel = [:]
        if self.query("cursor") != nil { model["first"] = "\(Dashboard.root)\(path)\(query)" }
        if let next {
            let join = query.isEmpty ? "?" : "&"
            model["next"] = "\(Dashboard.root)\(path)\(query)\(join)cursor=\(URLText.encoded(next))"
        }
        return model.isEmpty ? nil : model
    }
}
